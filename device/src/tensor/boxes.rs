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

    /// Returns the row of a matrix at which the tiles in this row of tiles begin, where they are
    /// counted in the order `O`, that of the output whose tiles they go with:
    /// `row * ROWS`, or in the order [`FromEnd`](crate::FromEnd) a number that is negative where
    /// the first tile begins in front of the matrix.
    ///
    /// PTX: some arithmetic with the number of rows, which is a parameter of the kernel.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::product::OperandTile;
    /// use tilepipe::role::{Partitioned, Product, WarpRoles};
    /// use tilepipe::{
    ///     Block, FromEnd, Outputs, Panels4, Shared, Stages, Swizzle128, Tensor, TensorMap,
    ///     TensorMut, TensorTile, bf16, kernel,
    /// };
    ///
    /// type Rows = Panels4<128, 64, 64>;
    /// type Tile<X> = OperandTile<bf16, X, Swizzle128>;
    ///
    /// /// Writes `A * B^T` of each matrix A, where B is one of 64 rows.
    /// #[kernel(min_blocks = 1)]
    /// pub fn last_rows_first(
    ///     block: Block<384>,
    ///     a: Tensor<bf16, Rows, Swizzle128>,
    ///     b: Tensor<bf16, Panels4<64, 64, 64>, Swizzle128>,
    ///     out: TensorMut<bf16, Rows, Swizzle128, FromEnd>,
    ///     shared: Shared<(
    ///         Partitioned<Stages<Tile<Rows>, 2, TensorMap>>,
    ///         Partitioned<Stages<Tile<Panels4<64, 64, 64>>, 1, TensorMap>>,
    ///         Outputs<TensorTile<bf16, Rows, Swizzle128>, 1>,
    ///     )>,
    /// ) {
    ///     let (of_a, of_b, outputs) = shared.split();
    ///     let places = out.tile_places(&block);
    ///     block
    ///         .partition::<WarpRoles<128, 256>>()
    ///         .pipeline(of_a)
    ///         .pipeline(of_b)
    ///         .role((), |_, (mut of_a, of_b), ()| {
    ///             let Ok(stage) = of_b.acquire() else { return };
    ///             let _ = stage.copy(b.of_matrix(0, 0, 0)).commit();
    ///             for tile in places {
    ///                 let (row, matrix) = tile.get();
    ///                 let Ok(stage) = of_a.acquire() else { return };
    ///                 let row = a.row_of_tile::<FromEnd>(row);
    ///                 of_a = stage.copy(a.of_matrix(0, matrix as i32, row)).commit();
    ///             }
    ///         })
    ///         .role((out, outputs), |group, (mut of_a, of_b), (out, outputs)| {
    ///             let mut ring = outputs.outputs(&group, out);
    ///             let Ok(b) = of_b.wait() else { return };
    ///             let (_, b) = b.hold();
    ///             for tile in places {
    ///                 let Ok(a) = of_a.wait() else { return };
    ///                 let (end, a) = a.hold();
    ///                 let (sums, a, _) = group.product(Product::of(&group, a, &b));
    ///                 of_a = end.release(a);
    ///                 ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
    ///             }
    ///         })
    ///         .run_last();
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// // Two matrices of 190 rows: tiles begin at the rows 64 and -64.
    /// let a = (0..380 * 64).map(|at| bf16::from_f32((at / 64 % 128) as f32));
    /// let a = device.upload_nd(&a.collect::<Vec<_>>(), [1, 2, 190, 64])?;
    /// let b = device.upload_nd(&[bf16::from_f32(0.5); 64 * 64], [1, 1, 64, 64])?;
    /// let mut out = device.zeroed_nd::<bf16, _>([1, 2, 190, 64])?;
    /// last_rows_first::launch(&device.stream()?, 3, &a, &b, &mut out)?;
    /// for (row, element) in out.download()?.iter().step_by(64).enumerate() {
    ///     assert_eq!(element.to_f32(), 32.0 * (row % 128) as f32);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn row_of_tile<O: Stepped>(&self, row: usize) -> i32 {
        (row * ROWS) as i32 - O::rows_in_front(self.rows(), ROWS) as i32
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
