//! The parts of `tilepipe-run` that tests use too.
//!
//! Data for kernels ([`data`]), real NumPy files ([`npy`]) and what each kernel must compute ([`work`], [`mod@reference`]), written as
//! plain loops that share no code with the device crate; and how programs print ([`stdout`]). The program itself is `tilepipe-run`; `cargo xtask run` builds
//! the kernels and starts it.

pub mod array;
pub mod built;
pub mod data;
pub mod dtype;
pub mod npy;
pub mod reference;
pub mod stdout;
pub mod value;
pub mod work;
