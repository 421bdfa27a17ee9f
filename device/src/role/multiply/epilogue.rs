//! Stores of sums with what else their elements need, from another pipeline between roles.

use super::super::channel::Channel;
use super::super::end::Consumer;
use crate::barrier::{Closed, ConsumerBarriers, EndState};
use crate::isa::product::Width;
use crate::marker::Uniform;
use crate::product::{SumElement, Sums};
use crate::stage::LandedStage;
use crate::stage::contents::{AlwaysFilled, sealed::Contents};
use crate::store::{OutputRing, StoringGroup, SumPlace, check_tile};
use crate::tensor::{Panels, Swizzle, TensorMut, TileIndex};
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
    const ARRAY: usize,
    const COUNT: usize,
> OutputRing<'_, TensorMut<'_, T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, W, O>, COUNT, P, G>
{
    /// As [`store_pairs_of_sums`](Self::store_pairs_of_sums), with what else the tile's elements
    /// need: `value(place, sums, tiles)`, where `tiles` are those of the next stage of a pipeline
    /// between roles. It is on its way while the product is computed.
    ///
    /// PTX besides: `mbarrier.try_wait`, and `mbarrier.arrive` when all is read.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the producers of the other pipeline left before; nothing is written.
    ///
    /// # Panics
    ///
    /// As for `store_sums`.
    #[inline(always)]
    #[track_caller]
    pub fn store_pairs_beside<'r, K, C: Width, const SIZE: usize>(
        &mut self,
        tile: impl TileIndex,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        mut other: Consumer<'r, K>,
        value: impl for<'t> Fn(SumPlace, [f32; 2], <K::Contents as Contents>::Tiles<'t>) -> [f32; 2] + Uniform,
    ) -> Result<Consumer<'r, K>, Closed>
    where
        K: Channel,
        K::Contents: AlwaysFilled,
    {
        const { check_tile([ROWS, COLUMNS, PANEL], C::COLUMNS, [SIZE, G::THREADS]) };
        let mut read = StagesRead::of(&mut other);
        let Ok(stage) = read.next() else {
            read.into(&mut other);
            return Err(Closed);
        };
        self.store_panels::<true, _, _>(tile, group, sums, |place, both| {
            // SAFETY: all threads of the role may read all of the stage until it is passed below,
            // and no reference outlives the call.
            value(place, both, unsafe { stage.tiles() })
        });
        read.pass();
        read.into(&mut other);
        Ok(other)
    }

    /// As [`store_pairs_beside`](Self::store_pairs_beside), with a stage for each of the tile's
    /// panels, from left to right, those beyond the edge included.
    ///
    /// PTX besides, for each panel: `mbarrier.try_wait`, and `mbarrier.arrive` when all is read.
    /// (CUTLASS: the loads of C in its epilogue.)
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the producers of the other pipeline left before; the rest of the tile is not
    /// written.
    ///
    /// # Panics
    ///
    /// As for `store_sums`.
    #[inline(always)]
    #[track_caller]
    pub fn store_pairs_with<'r, K, C: Width, const SIZE: usize>(
        &mut self,
        tile: impl TileIndex,
        group: &G,
        sums: &Sums<'_, C, SIZE>,
        mut other: Consumer<'r, K>,
        value: impl for<'t> Fn(SumPlace, [f32; 2], <K::Contents as Contents>::Tiles<'t>) -> [f32; 2] + Uniform,
    ) -> Result<Consumer<'r, K>, Closed>
    where
        K: Channel,
        K::Contents: AlwaysFilled,
    {
        const {
            check_tile([ROWS, COLUMNS, PANEL], C::COLUMNS, [SIZE, G::THREADS]);
            assert!(COLUMNS.is_multiple_of(PANEL), "each panel has a stage: `PANEL` divides `COLUMNS`");
        }
        let tile = self.begin_tile_of_sums(tile);
        let mut read = StagesRead::of(&mut other);
        for panel in 0..const { COLUMNS / PANEL } {
            let Ok(stage) = read.next() else {
                read.into(&mut other);
                return Err(Closed);
            };
            self.store_panel::<true, _, _>(group, sums, (tile, panel), |place, both| {
                // SAFETY: as in `store_pairs_beside`.
                value(place, both, unsafe { stage.tiles() })
            });
            read.pass();
        }
        read.into(&mut other);
        Ok(other)
    }
}

/// The stages that a role reads beside its sums, with a copy of its end's state: what is behind the
/// end's reference would stay in memory, and the sums with it.
struct StagesRead<K: Channel> {
    barriers: ConsumerBarriers<K>,
    state: EndState,
}

impl<K: Channel> StagesRead<K> {
    /// Of an end, whose state is put back by [`into`](Self::into).
    #[inline(always)]
    fn of(end: &mut Consumer<'_, K>) -> Self {
        StagesRead { barriers: ConsumerBarriers(end.memory()), state: *end.state() }
    }

    /// Waits for the next stage. It may be read until it is passed.
    #[inline(always)]
    fn next(&mut self) -> Result<LandedStage<K::Contents>, Closed> {
        let stage = self.state.take(&self.barriers)?;
        // SAFETY: the role has waited for the stage.
        let first = unsafe { self.barriers.0.stage_to_read(stage) };
        // SAFETY: its copies have landed, and are visible to each thread that has waited; the
        // producers fill it again only once it is passed.
        Ok(unsafe { LandedStage::new(first) })
    }

    /// Gives the stage back.
    #[inline(always)]
    fn pass(&mut self) {
        self.state.pass(&self.barriers);
    }

    #[inline(always)]
    fn into(self, end: &mut Consumer<'_, K>) {
        *end.state() = self.state;
    }
}
