//! Tensor tiles: boxes of an array that the copy engine finds by a map, swizzled on the way.
//!
//! A [`Tensor`] is a kernel's parameter: an array in global memory and the shape of the boxes that
//! are copied from it. The launch encodes both into a map (CUDA's `CUtensorMap`), which only the
//! engine reads. A box lands as a [`TensorTile`], whose elements are reached by row and column
//! wherever the swizzle has put them. A [`TensorMut`] is one that the kernel writes, through
//! [`Outputs`](crate::Outputs).

pub(crate) mod boxes;
pub(crate) mod extents;
mod mapped;
pub(crate) mod output;
mod parts;
pub(crate) mod places;
pub(crate) mod reduction;
pub(crate) mod swizzle;
mod tile;

pub use boxes::{BlockBoxes, Tensor, TensorBox};
pub use extents::{
    Extents, Extents1, Extents2, Extents3, Extents4, Extents5, Halo2, MatrixExtents, OutputExtents, Panels, Panels2,
    Panels4,
};
pub use output::TensorMut;
pub use parts::{TensorColumn, TensorRow};
pub use places::{TileIndex, TilePlace, TilePlaces, TilePlacesIter};
pub use reduction::{Operation, TileReduction};
pub use swizzle::{NoSwizzle, Swizzle, Swizzle32, Swizzle64, Swizzle128};
pub use tile::TensorTile;
