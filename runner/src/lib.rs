//! `tilepipe-run` without the kernels that it runs, and what tests and benchmarks use of it.
//!
//! Data for kernels ([`data`]), real NumPy files ([`npy`]), pictures, and what each kernel must
//! compute ([`work`], [`mod@reference`]), written as plain loops that share no code with the device
//! crate; how programs print ([`stdout`]); and the program itself ([`program`]), which
//! `tilepipe-run` starts with all kernels. All that handles data is here, for every element type:
//! it is not compiled again when a kernel changes.

pub mod array;
mod attention;
pub mod built;
pub mod data;
pub mod dtype;
mod execute;
pub mod machine;
pub mod npy;
mod output;
mod picture;
mod plan;
mod product;
pub mod program;
pub mod reference;
mod report;
mod source;
pub mod stdout;
pub mod value;
pub mod work;
