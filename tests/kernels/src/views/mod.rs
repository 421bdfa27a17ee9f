//! Small kernels about views: reads anywhere, and orders of tiles.

pub mod orders;
pub mod reads;
