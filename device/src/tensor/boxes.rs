//! A tensor as a kernel's parameter, and the boxes that are copied from it.

use core::marker::PhantomData;

use super::extents::{Extents, Extents1, Extents3, Extents4, Extents5, MatrixExtents, Panels};
use super::mapped::{Mapped, extents};
use super::swizzle::Swizzle;
use crate::element::Element;
use crate::fault;
use crate::group::block::Block;
use crate::isa::{Corner, RawTensor};
use crate::marker::{Brand, Named, Uniform};
use crate::view::geometry::Rows;
use crate::view::numbers::TileNumbers;
use crate::view::order::{AnyBlock, Cyclic, Order, Stepped};
use crate::view::share::{Places, Share, TILE_OUT_OF_RANGE};

/// Global memory with rows as boxes of extents `X`, read-only for the whole launch, which the copy
/// engine finds by a map and swizzles as `W` says: a kernel's parameter.
///
/// The host passes `&Buffer2D<T>`, or rows of a buffer, whose pitch is a multiple of 16 bytes; for
/// other numbers of dimensions a `BufferNd`. The launch encodes the map. Boxes may reach beyond
/// every edge: what lies there reads as zero.
///
/// CUDA: `const __grid_constant__ CUtensorMap`, and the call of `cuTensorMapEncodeTiled` that makes
/// it.
///
/// # Invariants
///
/// 0. The map of `array` lies in the kernel's parameters, valid for the whole launch `'k`; it was
///    encoded for boxes of extents `X` of elements `T` with swizzle `W`, of an array that nobody
///    writes during the launch.
pub struct Tensor<'k, T: Element, X: Extents, W: Swizzle> {
    array: Mapped,
    brand: Brand<'k>,
    shape: Named<(T, X, W)>,
}

impl<T: Element, X: Extents, W: Swizzle> Clone for Tensor<'_, T, X, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, X: Extents, W: Swizzle> Copy for Tensor<'_, T, X, W> {}

// SAFETY: the map and the memory behind it are read-only while the launch lasts, and there is no
// collective operation on a tensor that needs no `&Block`, which a closure can't have.
unsafe impl<T: Element, X: Extents, W: Swizzle> Uniform for Tensor<'_, T, X, W> {}

impl<'k, T: Element, X: Extents, W: Swizzle> Tensor<'k, T, X, W> {
    /// Makes the tensor whose map lies at `map`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds, and that of [`Mapped`] for the map's own rows and columns.
    #[inline(always)]
    pub(crate) unsafe fn new(map: *const RawTensor) -> Self {
        // SAFETY: the caller's promise.
        Tensor { array: unsafe { Mapped::new(map) }, brand: PhantomData, shape: PhantomData }
    }

    extents!();

    /// The box whose own part begins there.
    ///
    /// # Panics
    ///
    /// If the column begins no 16 bytes.
    #[inline(always)]
    #[track_caller]
    fn beginning_at(&self, own: Corner) -> TensorBox<'k, T, X, W> {
        let mut from = own;
        from[1] = own[1].wrapping_sub(X::LEAD[0] as i32);
        from[0] = own[0].wrapping_sub(X::LEAD[1] as i32);
        // A power of two.
        let step = const { STEP / size_of::<T>() };
        let past = from[0] as u32 as usize % step;
        if past != 0 {
            fault::out_of_range(
                "a box of a tensor begins at 16 bytes of a row: this one's column is {} past a multiple of {}",
                past,
                step,
            );
        }
        TensorBox { map: self.array.map(), from, brand: PhantomData, shape: PhantomData }
    }

    /// Returns the boxes of this block in order: every `grid`-th box from the block's own index on
    /// (a grid-stride loop), counted row by row.
    ///
    /// # Panics
    ///
    /// If the tensor has 2^32 boxes or more.
    #[inline(always)]
    #[track_caller]
    pub fn for_block<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> BlockBoxes<'k, T, X, W> {
        let _ = block;
        self.dealt()
    }

    /// Returns the boxes of this block in another order: [`Consecutive`](crate::Consecutive) boxes,
    /// counted row by row. See [`TileView::in_order`](crate::TileView::in_order).
    ///
    /// # Panics
    ///
    /// If the tensor has 2^32 boxes or more.
    #[inline(always)]
    #[track_caller]
    pub fn in_order<O: Stepped>(&self, block: &impl AnyBlock) -> BlockBoxes<'k, T, X, W, O> {
        let _ = block;
        self.dealt()
    }

    /// The boxes of this block.
    #[inline(always)]
    #[track_caller]
    fn dealt<O: Stepped>(&self) -> BlockBoxes<'k, T, X, W, O> {
        BlockBoxes { tensor: *self, share: self.array.share::<X, O>(), order: PhantomData }
    }
}

impl<'k, T: Element, X: MatrixExtents, W: Swizzle> Tensor<'k, T, X, W> {
    /// Returns the box whose own part begins at this row and column of the tensor, both of which
    /// may lie outside of it: what does is zero. The column begins 16 bytes of a row, counted from
    /// the tensor's first column: of 4-byte elements it is a multiple of 4.
    ///
    /// The check is free where the column is a constant or a product with such a multiple.
    ///
    /// # Panics
    ///
    /// If the column begins no 16 bytes, at which the copy engine would fail: the launch fails with
    /// both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, row: i32, column: i32) -> TensorBox<'k, T, X, W> {
        self.beginning_at([column, row, 0, 0, 0])
    }
}

/// `at` for extents of other than two dimensions.
macro_rules! at {
    ($($extents:ident<$($generic:ident),+>($($at:ident),+): $corner:expr;)+) => {$(
        impl<'k, T: Element, $(const $generic: usize,)+ W: Swizzle> Tensor<'k, T, $extents<$($generic),+>, W> {
            /// Returns the box that begins at this place of the tensor, which may lie outside of
            /// it: what does is zero. As for a matrix, the column begins 16 bytes of a row.
            ///
            /// # Panics
            ///
            /// If the column begins no 16 bytes: the launch fails with both numbers, file and line.
            #[inline(always)]
            #[track_caller]
            pub fn at(&self, $($at: i32),+) -> TensorBox<'k, T, $extents<$($generic),+>, W> {
                self.beginning_at($corner)
            }
        }
    )+};
}
at! {
    Extents1<COLUMNS>(column): [column, 0, 0, 0, 0];
    Extents3<PLANES, ROWS, COLUMNS>(plane, row, column): [column, row, plane, 0, 0];
    Extents4<FOURTH, PLANES, ROWS, COLUMNS>(fourth, plane, row, column): [column, row, plane, fourth, 0];
    Extents5<FIFTH, FOURTH, PLANES, ROWS, COLUMNS>(fifth, fourth, plane, row, column): [column, row, plane, fourth, fifth];
}

impl<'k, T: Element, const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize, W: Swizzle>
    Tensor<'k, T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, W>
{
    /// Returns the tile that begins at this row of a matrix of the array, the one in this place of
    /// the third and the fourth dimension; what of it lies outside of the matrix is zero.
    ///
    /// Of an array of two dimensions, [`Panels2`](crate::Panels2), the matrices are `COLUMNS` of
    /// its columns each, and the fourth dimension does not count.
    #[inline(always)]
    pub fn of_matrix(
        &self,
        fourth: i32,
        plane: i32,
        row: i32,
    ) -> TensorBox<'k, T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, W> {
        // A tile has whole panels, so that its columns begin pieces of a row.
        let from =
            if ARRAY == 2 { [plane.wrapping_mul(COLUMNS as i32), row, 0, 0, 0] } else { [0, row, plane, fourth, 0] };
        self.beginning_at(from)
    }

    /// Returns how many matrices there are in the third dimension; of an array of two dimensions,
    /// in its columns, the partial last one included.
    #[inline(always)]
    pub fn matrices(&self) -> usize {
        if ARRAY == 2 { self.box_columns() } else { self.extent(2) }
    }
}

/// What the first byte of a box is a multiple of in its row. The copy engine stops at any other
/// (measured: docs/decisions/55).
pub(crate) const STEP: usize = 16;

/// A box of a tensor, to be copied: the source of a stage that holds a
/// [`TensorTile`](crate::TensorTile).
///
/// # Invariants
///
/// 0. `map` is that of a [`Tensor`] of these types, and the column of `from` a multiple of 16
///    bytes (`STEP`).
pub struct TensorBox<'k, T: Element, X: Extents, W: Swizzle> {
    map: *const RawTensor,
    /// Where it begins.
    from: Corner,
    brand: Brand<'k>,
    shape: Named<(T, X, W)>,
}

impl<T: Element, X: Extents, W: Swizzle> Clone for TensorBox<'_, T, X, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, X: Extents, W: Swizzle> Copy for TensorBox<'_, T, X, W> {}

impl<T: Element, X: Extents, W: Swizzle> TensorBox<'_, T, X, W> {
    /// The map by which the engine finds it.
    #[inline(always)]
    pub(crate) fn map(&self) -> *const RawTensor {
        self.map
    }

    /// The place of the tensor that it begins at.
    #[inline(always)]
    pub(crate) fn from(&self) -> Corner {
        self.from
    }

    /// The panel of this number, of those that a tile has.
    #[inline(always)]
    pub(crate) fn panel(&self, number: usize) -> Self {
        let mut from = self.from;
        // A panel's row is whole pieces, so that the column still begins one.
        from[0] = from[0].wrapping_add((number * X::EXTENTS[0]) as i32);
        TensorBox { from, ..*self }
    }
}

/// The boxes of one block, in the order `O` in which it works through them.
pub struct BlockBoxes<'k, T: Element, X: Extents, W: Swizzle, O = Cyclic> {
    tensor: Tensor<'k, T, X, W>,
    share: Share<Rows>,
    order: Named<O>,
}

impl<T: Element, X: Extents, W: Swizzle, O> Clone for BlockBoxes<'_, T, X, W, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, X: Extents, W: Swizzle, O> Copy for BlockBoxes<'_, T, X, W, O> {}

impl<'k, T: Element, X: Extents, W: Swizzle, O: Order> BlockBoxes<'k, T, X, W, O> {
    /// Returns how many boxes the block has; 0 where blocks outnumber boxes.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Which of the tensor's boxes they are.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> TileNumbers {
        self.share.numbers()
    }

    /// Returns the number of the block's box `index` among the tensor's boxes, which are counted
    /// row by row: `index * grid + block` in [`Cyclic`] order.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn number(&self, index: usize) -> usize {
        self.share.number(index)
    }

    /// Returns the block's box `index`: box [`number(index)`](Self::number) of the tensor.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> TensorBox<'k, T, X, W> {
        self.share.check(index, TILE_OUT_OF_RANGE);
        self.get_unchecked(index)
    }

    /// Returns the block's box `index`; for one that is not below `self.len()` any box.
    #[inline(always)]
    pub(crate) fn get_unchecked(&self, index: usize) -> TensorBox<'k, T, X, W> {
        let (row, column) = self.share.place(index);
        self.tensor.beginning_at(self.tensor.array.corner::<X>(row, column))
    }

    /// Returns the places of these boxes among the tensor's. In more than two dimensions the rows
    /// of boxes are counted through all planes.
    #[inline(always)]
    pub fn places(&self) -> Places {
        Places::of(self.share)
    }
}
