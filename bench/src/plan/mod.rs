//! What is measured: kernels, what stands beside each, and over which sizes and grids.

pub(crate) mod catalog;
pub(crate) mod pairings;
pub(crate) mod peers;
pub(crate) mod sweeps;
