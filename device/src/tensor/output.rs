//! A tensor that a kernel writes.

use core::marker::PhantomData;

use super::extents::OutputExtents;
use super::swizzle::Swizzle;
use crate::element::Element;
use crate::isa::RawTensor;
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::view::geometry::Rows;
use crate::view::numbers::TileNumbers;
use crate::view::share::Share;

/// Global memory with rows as boxes of extents `X` that this launch alone writes, by the copy
/// engine, from tiles that are swizzled as `W` says: a kernel's parameter.
///
/// Block `b` writes the boxes `i * grid + b`, counted row by row, so no two blocks share one. What
/// of a box lies beyond an edge is dropped by the engine. The boxes are written through
/// [`Outputs`](crate::Outputs), which take the tensor by value.
///
/// The host passes `&mut Buffer2D<T>`, or rows of a buffer, whose pitch is a multiple of 16 bytes;
/// the launch encodes the map.
///
/// CUDA: `const __grid_constant__ CUtensorMap`, and the call of `cuTensorMapEncodeTiled` that makes
/// it.
///
/// # Invariants
///
/// 0. `map` is as for [`Tensor`](crate::Tensor), of an array that only this launch touches, of
///    `rows` rows of `columns` elements, each 1 to 2^31 - 1 - 512.
/// 1. There is one such value for this array in each block.
pub struct TensorMut<'k, T: Element, X: OutputExtents, W: Swizzle> {
    map: *const RawTensor,
    rows: u32,
    columns: u32,
    brand: Brand<'k>,
    level: BlockLevel,
    shape: Named<(T, X, W)>,
}

impl<T: Element, X: OutputExtents, W: Swizzle> !Uniform for TensorMut<'_, T, X, W> {}

impl<T: Element, X: OutputExtents, W: Swizzle> TensorMut<'_, T, X, W> {
    /// Makes the tensor whose map lies at `map`.
    ///
    /// # Safety
    ///
    /// The invariants hold for the map's own rows and columns.
    #[inline(always)]
    pub(crate) unsafe fn new(map: *const RawTensor) -> Self {
        // SAFETY: the map is valid for the launch (0); this field of it is plain data.
        let rows = unsafe { (*map).rows };
        // SAFETY: as above.
        let columns = unsafe { (*map).columns };
        TensorMut { map, rows, columns, brand: PhantomData, level: PhantomData, shape: PhantomData }
    }

    /// Returns the number of elements in a row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Returns the number of boxes below one another, the partial last one included.
    #[inline(always)]
    pub fn box_rows(&self) -> usize {
        self.rows().div_ceil(X::STRIDE[0])
    }

    /// Returns the number of boxes beside one another, the partial last one included.
    #[inline(always)]
    pub fn box_columns(&self) -> usize {
        self.columns().div_ceil(X::STRIDE[1])
    }

    /// The map by which the engine finds the boxes.
    #[inline(always)]
    pub(crate) fn map(&self) -> *const RawTensor {
        self.map
    }

    /// Which boxes are this block's.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn share(&self) -> Share<Rows> {
        let (division, boxes) = Rows::new(self.columns(), self.rows(), 0).divide_into(X::STRIDE);
        let numbers = TileNumbers::of_block(boxes);
        Share { division, numbers, count: numbers.count(), whole: false }
    }
}
