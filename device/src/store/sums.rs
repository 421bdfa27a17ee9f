//! Sums of a matrix product on their way to global memory.

use super::group::StoringGroup;
use super::ring::OutputRing;
use super::view::BoxPlace;
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, Width};
use crate::marker::Uniform;
use crate::product::{SumElement, Sums};
use crate::tensor::{Panels2, Swizzle, TensorMut, TensorTile};
use crate::view::order::Stepped;

impl<
    T: SumElement,
    W: Swizzle,
    O: Stepped,
    P,
    G: StoringGroup,
    const ROWS: usize,
    const COLUMNS: usize,
    const PANEL: usize,
    const COUNT: usize,
> OutputRing<'_, TensorMut<'_, T, Panels2<ROWS, COLUMNS, PANEL>, W, O>, COUNT, P, G>
{
    /// Writes the block's tile `index`: `value(row, column, sum)`, rounded to `T`, for each
    /// element, by the thread that has the sum. Rows and columns are those of the tensor; elements
    /// beyond its edges are computed too, and dropped.
    ///
    /// The sums are `ROWS` by `COLUMNS`, or it does not compile. A panel of the tile is filled
    /// while the engine stores the one before.
    ///
    /// PTX for each panel: `st.shared` of two elements at a time, and as
    /// [`Draft::fill`](crate::Draft::fill).
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Panics
    ///
    /// If the block has no such tile: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn store_sums<C: Width, const SIZE: usize>(
        &mut self,
        index: usize,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        value: impl Fn(usize, usize, f32) -> f32 + Uniform,
    ) {
        const {
            assert!(
                C::COLUMNS == COLUMNS && ROWS == SIZE / WARPGROUP * GROUP_ROWS,
                "a tile of sums has the rows of A's tile and as many columns as B's tile has rows: `Panels2<128, 256, 64>` for `OperandTile`s \
                 of 128 and 256 rows"
            );
            assert!(G::THREADS == SIZE, "the ring is the role's whose sums are stored");
            assert!(PANEL.is_multiple_of(8), "a panel has a multiple of 8 columns");
        }
        let (row, column) = self.view().tile_places_of(self.share()).get(index);
        let panels = const { COLUMNS / PANEL };
        for panel in 0..panels {
            let Some(place) = BoxPlace::of_panel(self.view(), (row, column), panel) else { break };
            // SAFETY: a panel of a tile of the block's share, which no other block has; the ring is
            // borrowed while the draft exists.
            let draft = unsafe { self.draft(place, index * panels + panel) };
            draft.publish(group, SIZE, |rank, stage| {
                for pair in panel * (PANEL / 4)..(panel + 1) * (PANEL / 4) {
                    // SAFETY: `publish` passes the calling thread's rank in its group, which is the
                    // role whose sums they are; a pair of it.
                    let (down, across, [one, other]) = unsafe { sums.pair(rank, pair) };
                    let (y, x) = (row * ROWS + down, column * COLUMNS + across);
                    let pair = T::round([value(y, x, one), value(y, x + 1, other)]);
                    let offset =
                        TensorTile::<T, Panels2<ROWS, COLUMNS, PANEL>, W>::offset(down, across - panel * PANEL);
                    // SAFETY: two elements of the stage, which lie in one piece: a panel has whole
                    // pieces, and the first column is even.
                    let to = unsafe { stage.add(offset) };
                    // SAFETY: as above, so that the place is aligned as a pair is. It is shared
                    // memory, and the pair is this thread's alone until the barrier.
                    unsafe { isa::store_shared(to.cast(), pair) };
                }
            });
        }
    }
}
