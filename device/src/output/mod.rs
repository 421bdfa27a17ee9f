//! Output views of global memory: what a kernel writes, and which elements of it are a thread's.

pub(crate) mod bounds;
pub(crate) mod tiles;
pub(crate) mod tiles2d;
