//! An output with a number for each row of the tiles of another one.

use core::marker::PhantomData;

use super::RowValues;
use crate::entry::RawRows;
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, from_first_sum, place_of_sum};
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::role::RoleGroup;
use crate::role::map::{Warpgroups, sealed};
use crate::view::geometry::Rows;
use crate::view::order::{Cyclic, Stepped};
use crate::view::share::{Share, TilePlaces};

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

    /// Writes the numbers of the rows of the block's tile `index`; those of rows beyond the end are
    /// dropped.
    ///
    /// PTX: `st.global.f32`, by one of the four threads that have the number.
    ///
    /// # Threads
    ///
    /// The role whose numbers they are, of 128 threads for each 64 of `ROWS`, or it does not
    /// compile.
    ///
    /// # Panics
    ///
    /// If the block has no such tile, and the output is not empty: the launch fails with both
    /// numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn set<'r, R: Warpgroups, const SIZE: usize>(
        &mut self,
        index: usize,
        group: &RoleGroup<'r, R, SIZE>,
        values: &RowValues<'r, SIZE>,
    ) {
        const { check_rows(ROWS, SIZE) };
        if self.is_empty() {
            return;
        }
        // As the ranks below.
        let index = isa::opaque_here(index);
        let RawRows { address, width, height, pitch } = self.rows();
        let (rows, matrices, base) = (width as usize, height as usize, address as *mut f32);
        // Counted as the tiles of matrices side by side.
        let (division, tiles) = Rows::new(matrices, rows, 0).divide_into([ROWS, 1]);
        let numbers = O::numbers_in_groups(tiles);
        let share: Share<Rows> = Share { division, numbers, count: numbers.count(), whole: false };
        let (row, matrix) = TilePlaces::of::<O>(share, rows.div_ceil(ROWS)).get(index);
        let of_matrix = base.wrapping_add(matrix * pitch as usize);
        let _ = group;
        let own = |rank: usize| {
            // Known here only, so that nothing that follows from it is kept in registers while
            // products are computed.
            let (down, across) = place_of_sum(isa::rank_here(rank) % SIZE, 0);
            let both = values.values.get(rank);
            for (nth, value) in both.into_iter().enumerate() {
                let at = row * ROWS + down + from_first_sum(2 * nth).0;
                if across == 0 && at < rows {
                    // SAFETY: the number of a row of a matrix, which is in the output (invariant
                    // 0). The tile is the block's alone, as those of `O` are, and of the four
                    // threads that have the row's number one has its first sum. The role has this
                    // output for itself (1).
                    unsafe { isa::store_global(of_matrix.wrapping_add(at), value) };
                }
            }
        };
        // SAFETY: role-level code of the role.
        let _ = unsafe { isa::PerThread::<(), SIZE>::of_members(<R as sealed::Role>::MEMBERS, own) };
    }
}

/// Refuses, at compile time, numbers of so many rows of a role of `size` threads.
#[track_caller]
const fn check_rows(rows: usize, size: usize) {
    assert!(
        rows == size / WARPGROUP * GROUP_ROWS,
        "a warpgroup has 64 rows of its sums: a role of 128 threads writes a `RowValuesMut<64>`, one of 256 a `RowValuesMut<128>`"
    );
}
