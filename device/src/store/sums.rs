//! Sums of a matrix product on their way to global memory.

use super::draft::InWarpgroups;
use super::group::StoringGroup;
use super::ring::OutputRing;
use super::view::{BoxPlace, is_tight};
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, Width, from_first_sum, place_of_sum, row_of_matrix};
use crate::marker::Uniform;
use crate::product::{SumElement, Sums};
use crate::tensor::{Operation, Panels, Panels2, Swizzle, TensorMut, TensorTile, TileIndex, TileReduction};
use crate::view::order::Stepped;

/// Where two sums side by side lie: the row, and the column of the first one, which is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumPlace {
    in_tensor: (usize, usize),
    in_tile: (usize, usize),
    in_panel: (usize, usize),
}

impl SumPlace {
    /// Row and column in the tensor, perhaps beyond its edges. In the order
    /// [`FromEnd`](crate::FromEnd) rows may lie in front of the first one: the one before it is
    /// `usize::MAX`.
    #[inline(always)]
    pub fn in_tensor(self) -> (usize, usize) {
        self.in_tensor
    }

    /// Row and column in the tile of sums.
    #[inline(always)]
    pub fn in_tile(self) -> (usize, usize) {
        self.in_tile
    }

    /// Row and column in the panel of the tile.
    #[inline(always)]
    pub fn in_panel(self) -> (usize, usize) {
        self.in_panel
    }
}

/// A tile of sums whose panels are stored: its index, and its row and column in tiles.
#[derive(Clone, Copy)]
pub(crate) struct TileOfSums {
    index: usize,
    row: usize,
    column: usize,
}

/// Refuses, at compile time, to store sums of so many columns, of a role of `size` threads, as
/// another tile, or by a ring of another group than the role.
#[track_caller]
pub(crate) const fn check_tile([rows, columns, panel]: [usize; 3], of_sums: usize, [size, ring]: [usize; 2]) {
    assert!(
        of_sums == columns && rows == size / WARPGROUP * GROUP_ROWS,
        "a tile of sums has the rows of A's tile and as many columns as B's tile has rows: `Panels2<128, 256, 64>` for `OperandTile`s of \
         128 and 256 rows"
    );
    assert!(ring == size, "the ring is the role's whose sums are stored");
    assert!(
        panel.is_multiple_of(8) && columns.is_multiple_of(8),
        "a panel has a multiple of 8 columns, and so has a tile"
    );
}

impl<
    T: SumElement,
    W: Swizzle,
    O: Stepped,
    P,
    G: StoringGroup,
    const ROWS: usize,
    const COLUMNS: usize,
    const PANEL: usize,
    const ARRAY: usize,
    const COUNT: usize,
> OutputRing<'_, TensorMut<'_, T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, W, O>, COUNT, P, G>
{
    /// Writes one of the block's tiles, said by its place (of `for tile in
    /// out.tile_places(&block)`) or by its index: `value(row, column, sum)`, rounded to `T`, for
    /// each element, by the thread that has the sum. Rows and columns are those of the tensor;
    /// elements beyond its edges are computed too, and dropped.
    ///
    /// The sums are `ROWS` by `COLUMNS`, or it does not compile. A panel of the tile is filled
    /// while the engine stores the one before.
    ///
    /// PTX for each panel: `stmatrix` of 16 columns at a time, where elements have 16 bits, or
    /// `st.shared` of two elements, and as [`Draft::fill`](crate::Draft::fill), but each warpgroup
    /// for itself: its barrier is of 128 threads, and its first thread stores its 64 rows.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Panics
    ///
    /// If the block has no such tile, or the place is one of an output with other tiles: the launch
    /// fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn store_sums<C: Width, const SIZE: usize>(
        &mut self,
        tile: impl TileIndex,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(usize, usize, f32) -> f32 + Uniform,
    ) {
        const { check_tile([ROWS, COLUMNS, PANEL], C::COLUMNS, [SIZE, G::THREADS]) };
        self.store_panels::<false, _, _>(tile, group, sums, |place, [one, other]| {
            let (row, column) = place.in_tensor();
            [value(row, column, one), value(row, column + 1, other)]
        });
    }

    /// As [`store_sums`](Self::store_sums), two sums at a time, as a thread has them: `value(place,
    /// sums)` returns both elements.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Panics
    ///
    /// As for `store_sums`.
    #[inline(always)]
    #[track_caller]
    pub fn store_pairs_of_sums<C: Width, const SIZE: usize>(
        &mut self,
        tile: impl TileIndex,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(SumPlace, [f32; 2]) -> [f32; 2] + Uniform,
    ) {
        const { check_tile([ROWS, COLUMNS, PANEL], C::COLUMNS, [SIZE, G::THREADS]) };
        self.store_panels::<false, _, _>(tile, group, sums, value);
    }

    /// Whether each panel is asked what could be known of its tile.
    const IS_TIGHT: bool = is_tight::<TensorMut<'_, T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, W, O>, G>();

    /// The first column of a panel in its tile.
    #[inline(always)]
    const fn first_of_panel(panel: usize) -> usize {
        let last = COLUMNS - PANEL;
        if panel * PANEL < last { panel * PANEL } else { last }
    }

    /// Begins one of the block's tiles, whose panels are stored next.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn begin_tile_of_sums(&mut self, tile: impl TileIndex) -> TileOfSums {
        let (index, (row, column)) = tile.in_places(&self.places);
        if !Self::IS_TIGHT {
            // SAFETY: role-level code of the ring's group, whose sums these are, of whole
            // warpgroups (`check_tile`, which each caller has asked).
            unsafe { self.order_stores(index) };
        }
        TileOfSums { index, row, column }
    }

    /// Writes all panels of one of the block's tiles. `READS` says whether `value` reads shared
    /// memory.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn store_panels<const READS: bool, C: Width, const SIZE: usize>(
        &mut self,
        tile: impl TileIndex,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(SumPlace, [f32; 2]) -> [f32; 2],
    ) {
        let tile = self.begin_tile_of_sums(tile);
        for panel in 0..const { COLUMNS.div_ceil(PANEL) } {
            if !self.store_panel::<READS, _, _>(group, sums, (tile, panel), &value) {
                break;
            }
        }
    }

    /// Writes one panel of the tile that was begun last, or returns `false` if it is beyond the
    /// edge.
    /// `READS` is as for [`store_panels`](Self::store_panels).
    #[inline(always)]
    #[track_caller]
    pub(crate) fn store_panel<const READS: bool, C: Width, const SIZE: usize>(
        &mut self,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        (TileOfSums { index, row, column }, panel): (TileOfSums, usize),
        value: impl Fn(SumPlace, [f32; 2]) -> [f32; 2],
    ) -> bool {
        let place = if !READS && !Self::IS_TIGHT && panel == 0 {
            Some(BoxPlace::of_first_panel(self.view(), (row, column)))
        } else {
            BoxPlace::of_panel(self.view(), (row, column), Self::first_of_panel(panel))
        };
        let Some(place) = place else { return false };
        let index = Self::IS_TIGHT.then_some(index * const { COLUMNS.div_ceil(PANEL) } + panel);
        let in_front = self.view().rows_in_front();
        // SAFETY: a panel of a tile of the block's share, which no other block has, and which was
        // begun (`begin_tile_of_sums`); the ring is borrowed while the draft exists.
        let draft = unsafe { self.draft(place, index) };
        draft.publish::<InWarpgroups<READS>>(group, SIZE, |rank, stage| {
            let first = Self::first_of_panel(panel);
            // SAFETY: `publish` calls this for each thread of the group, which is the role whose
            // sums they are, with its rank, and with a stage.
            unsafe {
                Panels::<ROWS, COLUMNS, PANEL, ARRAY>::write::<READS, T, W, C, SIZE>(
                    stage,
                    sums,
                    rank,
                    [(row * ROWS).wrapping_sub(in_front), column, first],
                    &value,
                )
            };
        });
        true
    }
}

impl<
    'k,
    T: SumElement,
    W: Swizzle,
    O: Operation<T>,
    P,
    G: StoringGroup,
    const ROWS: usize,
    const COLUMNS: usize,
    const PANEL: usize,
    const COUNT: usize,
> OutputRing<'_, TileReduction<'k, T, O, Panels2<ROWS, COLUMNS, PANEL>, W>, COUNT, P, G>
{
    /// Adds a product's sums to the tile in this row and column of tiles: `value(row, column, sum)`
    /// for each element, rounded to `T`. Rows and columns are those of the tensor; elements beyond
    /// its edges are computed too, and dropped. Any block may take any tile, as often as it likes.
    ///
    /// The sums are `ROWS` by `COLUMNS`, and these are whole panels, or it does not compile. Of
    /// floats the order of the blocks decides how a sum is rounded, which the operation's name
    /// says ([`Unordered`](crate::reduce::Unordered)).
    ///
    /// PTX: as [`store_sums`](Self::store_sums) of a [`TensorMut`], with
    /// `cp.reduce.async.bulk.tensor`.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Panics
    ///
    /// If there is no such tile: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn add_sums<C: Width, const SIZE: usize>(
        &mut self,
        (row, column): (usize, usize),
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(usize, usize, f32) -> f32 + Uniform,
    ) {
        const {
            check_tile([ROWS, COLUMNS, PANEL], C::COLUMNS, [SIZE, G::THREADS]);
            assert!(
                COLUMNS.is_multiple_of(PANEL),
                "sums are added in whole panels: what lies in two of them would be added twice"
            );
        }
        let place = self.place_at(row, column);
        for panel in 0..COLUMNS / PANEL {
            let first = panel * PANEL;
            if column * COLUMNS + first >= self.view().columns() {
                break;
            }
            // SAFETY: a panel of a tile that is there (`place_at`), which begins in the tensor; all
            // blocks may add to all of them. The ring is borrowed while the draft exists.
            let draft = unsafe { self.draft(place.further(first), None) };
            // Sums are added within a loop over products (docs/decisions/91), which has no more
            // registers to spare than a `value` that reads.
            draft.publish::<InWarpgroups<true>>(group, SIZE, |rank, stage| {
                let value = |place: SumPlace, [one, other]: [f32; 2]| {
                    let (row, column) = place.in_tensor();
                    [value(row, column, one), value(row, column + 1, other)]
                };
                // SAFETY: `publish` calls this for each thread of the group, which is the role
                // whose sums they are, with its rank, and with a stage.
                unsafe {
                    Panels2::<ROWS, COLUMNS, PANEL>::write::<true, T, W, C, SIZE>(
                        stage,
                        sums,
                        rank,
                        [row * ROWS, column, first],
                        &value,
                    )
                };
            });
        }
    }
}

impl<const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize>
    Panels<ROWS, COLUMNS, PANEL, ARRAY>
{
    /// Writes a thread's part of the panel that begins at column `first` of a tile, which begins at
    /// this row of the tensor, and is in this column of tiles. `READS` says whether `value` reads
    /// shared memory, or that there are as few registers as if it did.
    ///
    /// # Safety
    ///
    /// All threads of the role whose sums they are make this call, each with its own rank; at
    /// `stage`, in shared memory, is room for a panel, which nobody else accesses until a barrier.
    #[inline(always)]
    unsafe fn write<const READS: bool, T: SumElement, W: Swizzle, C: Width, const SIZE: usize>(
        stage: *mut u8,
        sums: &Sums<'_, C, SIZE>,
        rank: usize,
        [first_row, column, first]: [usize; 3],
        value: &impl Fn(SumPlace, [f32; 2]) -> [f32; 2],
    ) {
        let offset = |(row, column)| TensorTile::<T, Self, W>::offset(row, column);
        // All places are the first one and a constant. The compiler knows nothing of these
        // numbers, or it would keep the thread's part of every place in registers from tile to
        // tile, which has none to spare for them. Where `value` reads, there are none for the
        // offsets in a stage either.
        let rank_here = if READS { isa::rank_here(rank) % SIZE } else { rank };
        let (down, across) = place_of_sum(rank_here, 0);
        let (first_row, first_column) =
            (isa::opaque(first_row.wrapping_add(down)), isa::opaque(column * COLUMNS + across));
        let element = |pair: usize| {
            // SAFETY: the calling thread's rank in the role whose sums they are; a pair of it.
            let both = unsafe { sums.pair(rank, pair) };
            let (further_down, further_across) = from_first_sum(2 * pair);
            let (down, across) = (down + further_down, across + further_across);
            let in_tensor = (first_row.wrapping_add(further_down), first_column + further_across);
            let in_panel = (down, across - first);
            // Two elements of the stage, which lie in one piece: a panel has whole pieces, and
            // the first column is even.
            let to = stage.wrapping_add(offset(in_panel));
            (to, T::round(value(SumPlace { in_tensor, in_tile: (down, across), in_panel }, both)))
        };
        let pairs = first / 4..(first + PANEL) / 4;
        let by_matrices = const { if size_of::<T>() == 2 { PANEL / 16 } else { 0 } };
        for four in 0..by_matrices {
            let pair = pairs.start + 4 * four;
            let own = [element(pair), element(pair + 1), element(pair + 2), element(pair + 3)];
            let row = stage.wrapping_add(offset(row_of_matrix(rank_here, 16 * four)));
            // SAFETY: all threads of the role make this call, which is whole warps. Four matrices
            // of the warp's sums, which lie in places of its own until the barrier, whole pieces of
            // rows; `row_of_matrix` says where each of their rows is.
            unsafe {
                isa::store_matrices(own.map(|(to, _)| to.cast()), row, own.map(|(_, pair)| bytemuck::cast(pair)))
            };
        }
        for pair in pairs.start + 4 * by_matrices..pairs.end {
            let (to, pair) = element(pair);
            // SAFETY: two elements of the stage, aligned as a pair is. It is shared memory, and
            // the pair is this thread's alone until the barrier.
            unsafe { isa::store_shared(to.cast(), pair) };
        }
    }
}
