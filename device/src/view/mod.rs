//! Input views of global memory: what a kernel reads, and which of its tiles are a block's.

pub(crate) mod constant;
pub(crate) mod geometry;
mod member;
mod misuse;
pub(crate) mod numbers;
pub(crate) mod order;
mod reads;
pub(crate) mod rows;
pub(crate) mod share;
pub(crate) mod tile_ref;
pub(crate) mod tiles;
