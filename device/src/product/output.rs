//! An output with a number for each row of the tiles of another one.

use core::marker::PhantomData;
use core::ops::Range;

use crate::isa;
use crate::isa::RawRows;
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::tensor::{TileIndex, TilePlaces};
use crate::view::geometry::Rows;
use crate::view::order::{Cyclic, Stepped};
use crate::view::share::Share;

/// Global memory with a number of `f32` for each row of the tiles of a
/// [`TensorMut`](crate::TensorMut) of [`Panels4`](crate::Panels4), which this launch alone writes,
/// or nothing: a kernel's parameter.
///
/// It has a row of numbers for each matrix of the tensor, in their order, with a number for each
/// row of the matrix. Its tiles, of `ROWS` numbers, are dealt out to the blocks as those of a
/// tensor of `Panels4<ROWS, ..>` in the same order `O`. A kernel writes what it knows of a row
/// besides its elements, such as the logarithm of a softmax's sum.
///
/// The host passes `&mut Buffer2D<f32>` or other rows, or `Nothing`: then nothing is written.
///
/// CUDA: FlashAttention's `softmax_lse`.
///
/// # Examples
///
/// ```
/// use tilepipe::product::{OperandTile, RowValuesMut};
/// use tilepipe::role::{Partitioned, Product, WarpRoles};
/// use tilepipe::{
///     Block, Panels4, Shared, Stages, Swizzle128, Tensor, TensorMap, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Panels4<64, 64, 64>, Swizzle128>;
/// type Ring = Partitioned<Stages<Rows, 1, TensorMap>>;
///
/// /// The largest product of each of the first 64 rows of a head with those of another matrix.
/// #[kernel]
/// pub fn largest(
///     block: Block<256>,
///     a: Tensor<bf16, Panels4<64, 64, 64>, Swizzle128>,
///     b: Tensor<bf16, Panels4<64, 64, 64>, Swizzle128>,
///     out: RowValuesMut<64>,
///     shared: Shared<(Ring, Ring)>,
/// ) {
///     let (of_a, of_b) = shared.split();
///     block
///         .partition::<WarpRoles<128, 128>>()
///         .pipeline(of_a)
///         .pipeline(of_b)
///         .role((), |_, (of_a, of_b), ()| {
///             let Ok(stage) = of_a.acquire() else { return };
///             let _ = stage.copy(a.of_matrix(0, 0, 0)).commit();
///             let Ok(stage) = of_b.acquire() else { return };
///             let _ = stage.copy(b.of_matrix(0, 0, 0)).commit();
///         })
///         .role(out, |group, (of_a, of_b), mut out| {
///             let Ok(a) = of_a.wait() else { return };
///             let Ok(b) = of_b.wait() else { return };
///             let ((a_end, a), (b_end, b)) = (a.hold(), b.hold());
///             let (sums, a, b) = group.product(Product::of(&group, a, b));
///             let _ = (a_end.release(a), b_end.release(b));
///             out.set(0, &group, &sums.row_max(&group));
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// // Row `r` of A is all `r`, and of B, which has 60 rows, all 1.
/// let rows: Vec<bf16> = (0..64 * 64).map(|at| bf16::from_f32((at / 64) as f32)).collect();
/// let (a, b) = (device.upload_nd(&rows, [1, 1, 64, 64])?, vec![bf16::ONE; 60 * 64]);
/// let b = device.upload_nd(&b, [1, 1, 60, 64])?;
/// let mut out = device.zeroed_2d::<f32>(64, 1)?;
/// largest::launch(&device.stream()?, 1, &a, &b, &mut out)?;
/// assert_eq!(out.download()?, Vec::from_iter((0..64).map(|row| 64.0 * row as f32)));
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. What lies at `rows` is valid for the launch. Row `m < height` of it is `width` numbers from
///    `address + m * pitch` on, valid for writes. Only this launch touches them. There may be none.
/// 1. There is one such value of this memory in each block.
pub struct RowValuesMut<'k, const ROWS: usize, O = Cyclic> {
    /// (Not the rows themselves, which would lie in registers while products are computed.)
    rows: *const RawRows,
    brand: Brand<'k>,
    level: BlockLevel,
    order: Named<O>,
}

impl<const ROWS: usize, O> !Uniform for RowValuesMut<'_, ROWS, O> {}

impl<const ROWS: usize, O: Stepped> RowValuesMut<'_, ROWS, O> {
    /// Makes the output of the numbers that `rows` says.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(crate) unsafe fn new(rows: *const RawRows) -> Self {
        const { assert!(ROWS > 0, "a tile has rows") };
        RowValuesMut { rows, brand: PhantomData, level: PhantomData, order: PhantomData }
    }

    /// Whether the launch passed nothing, so that nothing is written.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        let RawRows { width, height, .. } = self.rows();
        width == 0 || height == 0
    }

    #[inline(always)]
    fn rows(&self) -> RawRows {
        // SAFETY: valid for the launch (0), and plain data.
        unsafe { self.rows.read() }
    }

    /// Where the numbers of this tile of the block's are: the first one's address, and which of
    /// them, counted from there, lie in the matrix.
    ///
    /// # Panics
    ///
    /// If the block has no such tile.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn tile<I: TileIndex>(&mut self, tile: I) -> (*mut f32, Range<usize>) {
        // Known here only, so that nothing that follows from it is kept in registers while products
        // are computed.
        let index = isa::opaque_here(tile.index());
        let RawRows { address, width, height, pitch } = self.rows();
        let (rows, matrices) = (width as usize, height as usize);
        // Counted as the tiles of matrices side by side.
        let (division, tiles) = Rows::new(matrices, rows, 0).divide_into([ROWS, 1]);
        let numbers = O::numbers_in_groups(tiles);
        let share: Share<Rows> = Share { division, numbers, count: I::count_of(index, numbers), whole: false };
        let (row, matrix) = TilePlaces::of::<O>(share, rows.div_ceil(ROWS)).get(index);
        let in_front = O::rows_in_front(rows, ROWS);
        let first = (address as *mut f32).wrapping_add(matrix * pitch as usize + row * ROWS).wrapping_sub(in_front);
        (first, if row == 0 { in_front } else { 0 }..rows + in_front - row * ROWS)
    }
}
