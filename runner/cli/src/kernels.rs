//! The kernels that there are.

/// The kernels that run by default. `--kernel` takes their names.
pub use tilepipe_kernel_registry::NAMES as KERNELS;

/// A name more that `--kernel` takes: the matrix product by tensor cores. The registry does not
/// have it, since its results are compared within a bound, and it runs only where it is named.
pub const GEMM: &str = "gemm";

/// Another one: attention by tensor cores, as [`GEMM`].
pub const ATTENTION: &str = "attention";

/// The kernels that `--stress` launches. A test of the program compares them.
pub const STRESS_KERNELS: [&str; 3] =
    ["random_quits_of_first_threads", "random_quits_by_parity", "random_quits_of_warps"];

/// What `tilepipe-run --list` prints. A test of `tilepipe-runner` compares both, and writes this
/// one where `TILEPIPE_HELP=write`.
pub const LIST: &str = include_str!("../list.txt");
