//! The two loops of a driver: the one that fills all stages, and the one that reads them.

use super::channel::Channel;
use super::end::{Consumer, Ready};
use crate::barrier::EndState;
use crate::barrier::Memory;
use crate::barrier::ProducerBarriers;
use crate::fault;
use crate::isa;
use crate::marker::Uniform;
use crate::stage::batches::Batches;
use crate::stage::{self, Arrival, Stage, StageFilled};

/// The stages that a driver's consumers are to read, all of them: [`for_each`](Self::for_each).
#[must_use = "the tiles are thrown away unread: call `for_each`"]
pub struct Run<'r, K: Channel> {
    pub(super) consumer: Consumer<'r, K>,
    pub(super) count: usize,
    pub(super) left: &'r mut usize,
}

impl<K: Channel> !Uniform for Run<'_, K> {}

impl<'r, K: Channel> Run<'r, K> {
    /// Returns how many stages there are.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Reads all stages in order: `consume(tile, i)` each.
    ///
    /// PTX per stage: `mbarrier.try_wait.parity`, the reads, `mbarrier.arrive`.
    #[inline(always)]
    pub fn for_each(self, consume: impl FnMut(&Ready<'r, K>, usize)) {
        self.read::<true>(consume);
    }

    /// Reads all stages: in laps if `LAPS` (and the driver has any), or else one by one in less
    /// code.
    #[inline(always)]
    pub(super) fn read<const LAPS: bool>(self, consume: impl FnMut(&Ready<'r, K>, usize)) {
        self.read_then::<LAPS, ()>(consume, |(), _| ());
    }

    /// As [`read`](Self::read); what `compute` returns of a tile goes to `finish` after the stage
    /// was handed back.
    #[inline(always)]
    pub(super) fn read_then<const LAPS: bool, V>(
        self,
        mut compute: impl FnMut(&Ready<'r, K>, usize) -> V,
        mut finish: impl FnMut(V, usize),
    ) {
        let mut consumer = Some(self.consumer);
        in_order::<K, LAPS>(self.count, |index| {
            if let Some(tile) = consumer.take().map(Consumer::wait_open) {
                let computed = compute(&tile, index);
                consumer = Some(tile.release());
                finish(computed, index);
            }
        });
        *self.left = 0;
    }
}

/// Fills `count` stages of a pipeline whose consumers read the same number, in the threads that
/// copy.
#[inline(always)]
pub(super) fn fill_all<K: Channel, const LAPS: bool>(
    memory: Memory<K>,
    count: usize,
    fill: impl for<'x> Fn(Stage<'x, K>, usize) -> StageFilled<'x, K>,
) {
    let (mut state, barriers) = (EndState::producer(), ProducerBarriers::of_copiers(memory));
    in_order::<K, LAPS>(count, |index| {
        let stage = state.take_open(&barriers);
        let first = memory.stage(stage);
        // SAFETY: the producers have the stage, which `take_open` waited for.
        unsafe { isa::stage_acquired(first, stage::bytes::<K>()) };
        // SAFETY: the producers have the stage, and this is role-level code of theirs, run by those
        // that copy a part of it (`Stage`, 1). The brand is the closure's own, so this stage is the
        // one that comes back filled.
        let empty = unsafe { Stage::new(first, memory.landing(stage), Arrival::WithAnnouncement) };
        let filled = fill(empty, index);
        // Those that copy arrive here, and announce what they have copied.
        state.pass_told(&barriers.announcing(filled.unannounced()), |stage| barriers.tell(stage, filled.present()));
    });
}

/// Fills a stage with each of the block's `count` tiles.
#[inline(always)]
pub(super) fn fill_tiles<K: Channel, B: Batches<K::Contents>>(memory: Memory<K>, batches: B, count: usize) {
    if batches.numbers().counted_lies_below(count, batches.whole_below()) {
        // SAFETY: stages below `count` are asked for only, and all tiles are whole.
        fill_all::<_, true>(memory, count, |stage, index| stage.copy(unsafe { batches.whole(index) }));
    } else {
        // SAFETY: stages below `count` are asked for only.
        fill_all::<_, false>(memory, count, |stage, index| stage.copy(unsafe { batches.source(index) }));
    }
}

/// Calls `step` with each index below `count`. If `LAPS`, and if the channel's driver is faster so,
/// a lap has one step per stage and is unrolled, so that the addresses of a stage are constants;
/// the remaining steps are taken one by one. Loops with bounds checks would take too many registers
/// in laps.
///
/// # Panics
///
/// If `count` exceeds `u32::MAX`.
#[inline(always)]
fn in_order<K: Channel, const LAPS: bool>(count: usize, mut step: impl FnMut(usize)) {
    if count > fault::MOST_TILES {
        fault::too_many_tiles(count);
    }
    let (count, mut index) = (count as u32, 0);
    if LAPS && Memory::<K>::LAPS {
        let rest = count % K::COUNT as u32;
        while index < count - rest {
            for _ in 0..K::COUNT {
                step(index as usize);
                index += 1;
            }
        }
    }
    while index < count {
        step(index as usize);
        index += 1;
    }
}
