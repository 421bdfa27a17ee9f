//! Output views of global memory: what a kernel writes, and which elements of it are a thread's.

pub(crate) mod arrangement;
pub(crate) mod bounds;
pub(crate) mod bulk;
pub(crate) mod destination;
pub(crate) mod member;
pub(crate) mod product;
pub(crate) mod reduction;
pub(crate) mod rows;
pub(crate) mod tile;
pub(crate) mod tiles;
mod unrolled;
