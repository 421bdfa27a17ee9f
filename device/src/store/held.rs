//! Sums of a matrix product that are added up in the order in which threads have them.

use super::draft::InWarpgroups;
use super::group::StoringGroup;
use super::ring::OutputRing;
use super::sums::check_tile;
use crate::fault;
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, Width};
use crate::marker::Uniform;
use crate::product::Sums;
use crate::tensor::{NoSwizzle, Operation, Panels2, TileReduction};

impl<O: Operation<f32>, P, G: StoringGroup, const ROWS: usize, const COLUMNS: usize, const COUNT: usize>
    OutputRing<'_, TileReduction<'_, f32, O, Panels2<ROWS, COLUMNS, COLUMNS>, NoSwizzle>, COUNT, P, G>
{
    /// As [`add_sums`](Self::add_sums), but the elements of a tile come in the order in which
    /// threads have the sums: the sum of row `row` and column `column` is added where
    /// [`held_place`] says. For sums that are only added up here, and put in order by who reads
    /// them: a thread writes four at once, and no two threads of a warp the same bank.
    ///
    /// The tile lies in the tensor as a whole, whose rows are a multiple of `ROWS` and its columns
    /// of `COLUMNS`.
    ///
    /// PTX: `st.shared.v4` of four sums, and as [`Draft::fill`](crate::Draft::fill) of each
    /// warpgroup for itself, with `cp.reduce.async.bulk.tensor`.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Panics
    ///
    /// If a part of the tile lies beyond the tensor: the launch fails with both numbers, file and
    /// line.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::product::OperandTile;
    /// use tilepipe::reduce::{Add, Unordered};
    /// use tilepipe::role::{Partitioned, Product, WarpRoles};
    /// use tilepipe::{
    ///     Block, Extents2, NoSwizzle, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor,
    ///     TensorMap, TensorTile, TileReduction, bf16, held_place, kernel,
    /// };
    ///
    /// type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
    /// type Panel = Panels2<64, 64, 64>;
    ///
    /// /// Adds `A * B^T`, of a tile of either, to the tile of sums in that column of tiles.
    /// #[kernel(min_blocks = 1)]
    /// pub fn added(
    ///     block: Block<256>,
    ///     a: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     column: u32,
    ///     out: TileReduction<f32, Unordered<Add>, Panel, NoSwizzle>,
    ///     shared: Shared<(
    ///         Partitioned<Stages<Tile, 2, TensorMap>>,
    ///         Outputs<TensorTile<f32, Panel, NoSwizzle>, 1>,
    ///     )>,
    /// ) {
    ///     let (stages, outputs) = shared.split();
    ///     block
    ///         .partition::<WarpRoles<128, 128>>()
    ///         .pipeline(stages)
    ///         .role((), |_, tiles, ()| {
    ///             let Ok(stage) = tiles.acquire() else { return };
    ///             let Ok(stage) = stage.copy(a.at(0, 0)).commit().acquire() else { return };
    ///             let _ = stage.copy(b.at(0, 0)).commit();
    ///         })
    ///         .role((out, outputs), |group, tiles, (out, outputs)| {
    ///             let mut ring = outputs.outputs(&group, out);
    ///             let Ok(rows) = tiles.wait() else { return };
    ///             let (end, rows) = rows.hold();
    ///             let Ok((_, columns)) = end.wait() else { return };
    ///             let (sums, ..) = group.product(Product::of(&group, rows, columns));
    ///             ring.add_sums_as_held((0, column as usize), &group, &sums, |sum| 2.0 * sum);
    ///         })
    ///         .run_last();
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// let numbers = |step: usize| {
    ///     let elements = (0..64 * 64).map(|at| bf16::from_f32((at / 64 * step % 7) as f32));
    ///     device.upload_2d(&elements.collect::<Vec<_>>(), 64)
    /// };
    /// let (a, b) = (numbers(1)?, numbers(3)?);
    /// let mut sums = device.zeroed_2d::<f32>(128, 64)?;
    /// added::launch(&device.stream()?, 1, &a, &b, 1, &mut sums)?;
    /// let found = sums.download()?;
    /// for (row, column) in [(0, 0), (1, 2), (30, 61), (63, 63)] {
    ///     let (below, beside) = held_place(row, column, 64);
    ///     let wanted = 2.0 * 64.0 * (row % 7 * (3 * column % 7)) as f32;
    ///     assert_eq!(found[128 * below + 64 + beside], wanted);
    /// }
    /// // There are two columns of tiles.
    /// let error = added::launch(&device.stream()?, 1, &a, &b, 2, &mut sums).unwrap_err();
    /// assert!(error.to_string().contains("ends at row 64 and column 192, beyond the tensor"));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn add_sums_as_held<C: Width, const SIZE: usize>(
        &mut self,
        (row, column): (usize, usize),
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(f32) -> f32 + Uniform,
    ) {
        const { check_tile([ROWS, COLUMNS, COLUMNS], C::COLUMNS, [SIZE, G::THREADS]) };
        let (columns, rows) = (self.view().columns(), self.view().rows());
        let [ends, below] = [(column + 1) * COLUMNS, (row + 1) * ROWS];
        if ends > columns || below > rows {
            fault::out_of_range("a tile of held sums ends at row {} and column {}, beyond the tensor", below, ends);
        }
        let place = self.place_at(row, column);
        // SAFETY: a tile that is there (`place_at`), as a whole; all blocks may add to all of them.
        // The ring is borrowed while the draft exists.
        let draft = unsafe { self.draft(place, None) };
        draft.publish::<InWarpgroups<true>>(group, SIZE, |rank, stage| {
            let rank_here = isa::rank_here(rank) % SIZE;
            let own = rank_here / WARPGROUP * (GROUP_ROWS * COLUMNS) + rank_here % WARPGROUP * 4;
            for four in 0..COLUMNS / 8 {
                // SAFETY: the calling thread's rank in the role whose sums they are; two pairs of
                // it.
                let pairs = [2 * four, 2 * four + 1].map(|pair| unsafe { sums.pair(rank, pair) });
                let [[a, b], [c, d]] = pairs.map(|pair| pair.map(&value));
                let to = stage.cast::<f32>().wrapping_add(own + four * (WARPGROUP * 4));
                // SAFETY: four elements of the stage, which has `ROWS * COLUMNS` and is aligned to
                // 128 bytes; they are this thread's alone until the barrier (`held_place`).
                unsafe { isa::store_shared_row(to, [a, b, c, d]) };
            }
        });
    }
}

/// Where in its tile of `columns` columns the sum of this row and column is that
/// [`add_sums_as_held`](OutputRing::add_sums_as_held) has added: row and column.
///
/// It stays among the 64 rows of its warpgroup.
///
/// # Panics
///
/// If `columns` is 0.
#[inline(always)]
pub const fn held_place(row: usize, column: usize, columns: usize) -> (usize, usize) {
    let place = isa::product::held_place(row, column);
    (row / GROUP_ROWS * GROUP_ROWS + place / columns, place % columns)
}

#[cfg(test)]
mod tests {
    use super::held_place;
    use crate::isa::product::place_of_sum;

    #[test]
    fn held_sums_are_four_of_each_thread() {
        for (rank, register) in (0..256).flat_map(|rank| (0..32).map(move |register| (rank, register))) {
            let (row, column) = place_of_sum(rank, register);
            let place = rank / 128 * (64 * 64) + (register / 4 * 128 + rank % 128) * 4 + register % 4;
            assert_eq!(held_place(row, column, 64), (place / 64, place % 64));
        }
    }
}
