//! The driver: prologue, steady state and drain of a pipeline, for any number of stages.

use super::count::{Dirty, Free, Held, InFlight};
use super::ring;
use super::stage::{Ready, Stage, StageFilled};
use super::steps::{Idle, Pipeline, Setup};
use crate::engine::Pending;

/// The groups that may stay in flight at a wait of the steady state: all stages but the awaited and the free one.
enum Steady<const STAGES: usize> {}

impl<const STAGES: usize> Pending for Steady<STAGES> {
    const GROUPS: usize = STAGES.saturating_sub(2);
}

impl<'s, U: Setup, const STAGES: usize> Idle<'s, U, STAGES> {
    /// Runs `count` tiles through the pipeline in order: `fill(stage, i)` fills a stage with tile `i` ahead of time,
    /// `consume(tile, i)` reads it. As many fills are under way as there are stages, less the one that is read.
    ///
    /// Both closures are block-level code. With two or more stages an iteration has one barrier; with one stage, two.
    ///
    /// ```text
    /// for i in 0..count {                      PTX, with STAGES >= 2
    ///     wait for tile i                      cp.async.wait_group STAGES - 2; bar.sync
    ///     fill with tile i + STAGES - 1        cp.async (if there is such a tile)
    ///     commit                               cp.async.commit_group
    ///     consume tile i
    /// }
    /// ```
    ///
    /// Returns the pipeline with every stage dirty; [`finish`](Pipeline::finish) it to use its memory again.
    ///
    /// CUDA: the merged loop of `with_staging_unified` in the programming guide.
    #[inline(always)]
    pub fn for_each(
        mut self,
        count: usize,
        mut fill: impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
        mut consume: impl for<'x> FnMut(&Ready<'x, U>, usize),
    ) -> Pipeline<'s, U, Free<0>, InFlight<0>, Held<0>, Dirty<STAGES>> {
        for ahead in 0..STAGES - 1 {
            self.fill_next(ahead, count, &mut fill);
        }
        for index in 0..count {
            if STAGES == 1 {
                // SAFETY: block-level code (a pipeline exists nowhere else), which is converged. It frees the one stage,
                // which was released at the end of the last round.
                unsafe { ring::synchronise::<U>() };
                self.fill_next(index, count, &mut fill);
            }
            // SAFETY: as above.
            unsafe { ring::wait::<U, Steady<STAGES>>() };
            if STAGES > 1 {
                // The barrier in `wait` came after every thread's last read of the stage filled here, which was read in
                // the round before this one.
                self.fill_next(index + (STAGES - 1), count, &mut fill);
            }
            let tile = self.ring.next_to_read();
            // SAFETY: one group was committed for each of the tiles 0..index + STAGES - 1 before the wait (for one stage:
            // 0..=index), and all but the youngest STAGES - 2 (or 0) have landed, so tile `index` has, in every thread,
            // and the barrier made it visible to all. Its stage is filled again only STAGES - 1 rounds later.
            let ready = unsafe { Ready::new(tile) };
            consume(&ready, index);
            ring::released::<U>(tile);
        }
        self.ring.restart();
        self.into_state()
    }

    /// Fills the ring's next stage with tile `index` if there is one, and closes its group in any case, so that the
    /// number of groups is the same with and without a tile.
    #[inline(always)]
    fn fill_next(
        &mut self,
        index: usize,
        count: usize,
        fill: &mut impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
    ) {
        let memory = self.ring.next_to_fill();
        if index < count {
            // SAFETY: the stage was never filled, or was read STAGES - 1 rounds (for one stage: one round) ago and every
            // thread has passed a barrier since; nobody reads it before the wait of round `index`. The brand is the
            // closure's own, so this stage is the one that comes back filled.
            let stage = unsafe { Stage::new(memory) };
            let _filled = fill(stage, index);
        }
        ring::commit::<U>();
    }
}
