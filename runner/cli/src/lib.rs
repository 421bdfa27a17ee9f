//! The command line of `tilepipe-run`.
//!
//! It is a package of its own so that `cargo xtask run` answers a wrong argument before it builds
//! the program: nothing here needs the library or the kernels. [`LIST`] and [`STRESS_KERNELS`] are
//! copies of what those say, and tests of the program compare them.

mod cli;
mod dtype;
mod kernels;
mod selection;
mod values;

pub use cli::{Cli, DeviceChoice};
pub use dtype::DType;
pub use kernels::{ATTENTION, GEMM, KERNELS, LIST, STRESS_KERNELS};
pub use selection::{DEFAULT_BLOCKS, DEFAULT_DTYPES, DEFAULT_DTYPES_OF_PRODUCTS, DEFAULT_STAGES, Selection};
pub use values::{Choice, Schedule, VariantChoice};

/// The exit status where a GPU is asked for and there is none, so that a script can tell this from
/// a failure.
pub const NO_GPU: u8 = 3;
