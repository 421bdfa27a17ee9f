//! The parts of `tilepipe-run` that tests use too.
//!
//! Data for kernels ([`data`]), real NumPy files ([`npy`]) and what each kernel must compute ([`mod@reference`]), written as
//! plain loops that share no code with the device crate. The program itself is `tilepipe-run`; `cargo xtask run` builds
//! the kernels and starts it.

pub mod data;
pub mod npy;
pub mod reference;
pub mod value;
