//! What is measured: kernels, what stands beside each, and over which sizes and grids.

pub(crate) mod blocks;
pub(crate) mod bulk;
pub(crate) mod catalog;
pub(crate) mod matrices;
pub(crate) mod pairings;
pub(crate) mod peers;
pub(crate) mod shapes;
pub(crate) mod small;
pub(crate) mod sweeps;
pub(crate) mod tiles;
pub(crate) mod wide;
