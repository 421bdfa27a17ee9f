//! The driver: prologue, steady state and drain of a pipeline, for any number of stages.

use super::count::{Dirty, Free, Held, InFlight};
use super::ready::Ready;
use super::setup::Setup;
use super::steps::{Idle, Pipeline, launder};
use super::view::View;
use crate::engine::{Completion, CompletionOf};
use crate::group::Group;
use crate::isa::PendingGroups;
use crate::stage::{self, Arrival, Stage, StageFilled};
use crate::view::numbers::TileNumbers;

/// Of `FILLED` groups, all but the one that is waited for may stay in flight.
enum AllBut<const FILLED: usize, const FILL_FIRST: bool> {}

impl<const STAGES: usize> PendingGroups for AllBut<STAGES, true> {
    const GROUPS: usize = STAGES - 1;
}

impl<const STAGES: usize> PendingGroups for AllBut<STAGES, false> {
    const GROUPS: usize = STAGES.saturating_sub(2);
}

/// A pipeline after its drain: slower threads may still be reading every stage.
pub type Drained<'s, U, const STAGES: usize> = Pipeline<'s, U, Free<0>, InFlight<0>, Held<0>, Dirty<STAGES>>;

impl<'s, U: Setup, const STAGES: usize> Drained<'s, U, STAGES> {
    /// Waits until nobody reads the stages any more, so that the pipeline can be driven again.
    ///
    /// PTX: the barrier of the pipeline's view, `bar.sync` for a block's.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Reverses the tiles of one input, then those of another one, through the same stages.
    /// #[kernel]
    /// pub fn reverse_both(
    ///     block: Block<64>,
    ///     left: Tiles<i32, 64>,
    ///     right: Tiles<i32, 64>,
    ///     mut lefts: TilesMut<i32, 64>,
    ///     mut rights: TilesMut<i32, 64>,
    ///     shared: Shared<Stages<[i32; 64], 3>>,
    /// ) {
    ///     let mut results = lefts.for_block(&block);
    ///     let (tiles, pipe) = (left.for_block(&block), shared.pipeline(&block));
    ///     let pipe = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
    ///         block.threads(|t| dst.set(&t, tile[63 - t.rank()]));
    ///     });
    ///     let mut results = rights.for_block(&block);
    ///     let tiles = right.for_block(&block);
    ///     let _ = pipe.idle().map_tiles(&tiles, &mut results, |tile, dst| {
    ///         block.threads(|t| dst.set(&t, tile[63 - t.rank()]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let numbers: Vec<i32> = (0..1280).collect();
    /// # let tiles = numbers.chunks(64);
    /// # let reversed: Vec<i32> = tiles.flat_map(|tile| tile.iter().rev().copied()).collect();
    /// # let (left, right) = (device.upload(&numbers)?, device.upload(&numbers[..640])?);
    /// # let (mut lefts, mut rights) = (device.zeroed(1280)?, device.zeroed(640)?);
    /// # reverse_both::launch(&device.stream()?, 3, &left, &right, &mut lefts, &mut rights)?;
    /// # assert_eq!(lefts.download()?, reversed);
    /// # assert_eq!(rights.download()?, reversed[..640]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn idle(self) -> Idle<'s, U, STAGES> {
        // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code is
        // converged. So all stages are free: nothing is in flight or held, and who may have read
        // the dirty ones has passed this barrier.
        unsafe { launder::<U>() };
        self.into_state()
    }

    /// As [`idle`](Self::idle), of a pipeline that was idle before a driver read `tiles` tiles:
    /// where there were none, a pipeline whose copies complete by bytes does without the barrier.
    ///
    /// # Safety
    ///
    /// The pipeline was idle, and since then no more than `tiles` stages were filled.
    #[inline(always)]
    pub(super) unsafe fn idle_after(self, tiles: usize) -> Idle<'s, U, STAGES> {
        // Without the barrier other engines' kernels were not measured.
        if CompletionOf::<U::Engine>::BY_BYTES && tiles == 0 { self.into_state() } else { self.idle() }
    }
}

impl<'s, U: Setup, const STAGES: usize> Idle<'s, U, STAGES> {
    /// Runs `count` tiles through the pipeline in order: `fill(stage, i)` fills a stage with tile
    /// `i` ahead of time, `consume(tile, i)` reads it. All stages but the one that is being read
    /// have a fill in flight.
    ///
    /// Both closures run at the pipeline's own level: block-level code for a pipeline of the block.
    ///
    /// ```text
    /// for i in 0..count {                      PTX
    ///     wait for tile i                      cp.async.wait_group STAGES - 2; bar.sync
    ///     fill with tile i + STAGES - 1        cp.async (if there is such a tile)
    ///     commit                               cp.async.commit_group
    ///     consume tile i
    /// }
    /// ```
    ///
    /// With one stage, and where otherwise at most 8 bytes per thread would be in flight, a round
    /// fills before it waits, with a `bar.sync` before each. At warp scope a round does the same
    /// with `bar.warp.sync`, and at thread scope without any barrier. The tiles of a
    /// [`published`](Pipeline::published) pipeline have the barriers of block scope.
    ///
    /// Returns the pipeline with every stage dirty; [`finish`](Pipeline::finish) it to use its
    /// memory again.
    ///
    /// CUDA: the merged loop of `with_staging_unified` in the programming guide.
    ///
    /// # Panics
    ///
    /// If a round fills before it waits and `count` exceeds `u32::MAX`.
    #[inline(always)]
    #[track_caller]
    pub fn for_each(
        self,
        count: usize,
        fill: impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
        consume: impl for<'x> FnMut(&Ready<'x, U, U::View>, usize),
    ) -> Drained<'s, U, STAGES> {
        // With one stage `drive` starts the first copy before any barrier. With more the first ones
        // are in flight at the first barrier, and `drive` fills in two places (fewer registers).
        if const { Self::fill_first() && !(STAGES == 1 && CompletionOf::<U::Engine>::BY_BYTES) } {
            self.fill_first_of_all(count, fill, consume)
        } else {
            self.drive::<true>(TileNumbers::all_below(count), 0, fill, consume).0
        }
    }

    /// Whether a round fills before it waits, which puts one more tile in flight and costs a second
    /// barrier.
    ///
    /// With one stage there is no other way. With more it pays only where little is in flight
    /// otherwise (measured: `docs/performance.md`), or where a barrier costs next to nothing. Where
    /// copies complete by bytes a wait has no barrier, so that there is only the other one.
    const fn fill_first() -> bool {
        let in_flight = (STAGES - 1) * stage::bytes::<U>();
        STAGES == 1
            || U::View::CHEAP
            || CompletionOf::<U::Engine>::BY_BYTES
            || in_flight <= 8 * <U::Group as Group>::THREADS
    }

    /// [`for_each`](Self::for_each) where a round fills first. Its round begins with the fill,
    /// which may be large: with the loop of [`drive`](Self::drive) `moving_average` takes twice
    /// the registers.
    #[inline(always)]
    #[track_caller]
    fn fill_first_of_all(
        mut self,
        count: usize,
        mut fill: impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
        mut consume: impl for<'x> FnMut(&Ready<'x, U, U::View>, usize),
    ) -> Drained<'s, U, STAGES> {
        if count == 0 {
            return self.into_state();
        }
        for ahead in 0..STAGES - 1 {
            self.fill_next(ahead, ahead < count, &mut fill);
        }
        let count = TileNumbers::all_below(count).count_in_32_bits(false) as usize;
        for index in 0..count as u32 {
            let index = index as usize;
            // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code is
            // converged.
            unsafe { launder::<U>() };
            // The barrier came after every thread's last read of this stage, in the round before.
            self.fill_next(index + (STAGES - 1), index + (STAGES - 1) < count, &mut fill);
            // SAFETY: as above.
            unsafe { self.land::<AllBut<STAGES, true>>() };
            self.consume_next(index, &mut consume);
        }
        self.ring.restart();
        self.into_state()
    }

    /// Fills a stage with each index of `numbers` from `from` on, and has it read; returns the
    /// first index that `numbers` does not have, or `from`, and the tile number there.
    ///
    /// If `COUNTED`, a loop that waits first counts the indices. If not, it asks for each whether
    /// it exists, which takes no division. A loop that fills first counts where there are several
    /// stages.
    #[inline(always)]
    #[track_caller]
    pub(super) fn drive<const COUNTED: bool>(
        mut self,
        numbers: TileNumbers,
        from: usize,
        mut fill: impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
        mut consume: impl for<'x> FnMut(&Ready<'x, U, U::View>, usize),
    ) -> (Drained<'s, U, STAGES>, usize, usize) {
        // A launch may have far more blocks than tiles, and a block without tiles should end at
        // once (measured: docs/decisions/35).
        let (mut index, mut number) = (from, numbers.number(from));
        if number >= numbers.end() {
            return (self.into_state(), index, number);
        }
        // Behind a tile that is not there are no others. Without groups to count, a block with one
        // tile asks for one more, and not for each stage (measured with four).
        let by_bytes = CompletionOf::<U::Engine>::BY_BYTES;
        let one_by_one = by_bytes && STAGES > 2;
        for ahead in from..from + if one_by_one { STAGES } else { STAGES - 1 } {
            let is_there = numbers.has(ahead);
            if one_by_one && !is_there {
                break;
            }
            self.fill_next(ahead, is_there, &mut fill);
        }
        if const { Self::fill_first() } {
            // Counting in 32 bits keeps the copy a branch, which most warps skip where few threads
            // copy (measured).
            let counted = STAGES > 1;
            // The first round's fill: nobody has read its stage.
            if !one_by_one {
                self.fill_next(from + (STAGES - 1), numbers.has(from + (STAGES - 1)), &mut fill);
            }
            // A division for the count comes behind the first copies.
            let mut left = if counted { numbers.count_in_32_bits(by_bytes) - from as u32 } else { 0 };
            loop {
                // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code
                // is converged.
                unsafe { self.land::<AllBut<STAGES, true>>() };
                self.consume_next(index, &mut consume);
                index += 1;
                if counted {
                    left -= 1;
                } else {
                    number = numbers.after(number);
                }
                if if counted { left == 0 } else { number >= numbers.end() } {
                    break;
                }
                // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code
                // is converged.
                unsafe { launder::<U>() };
                // The barrier came after every thread's last read of this stage, in the round
                // before.
                let ahead = index + (STAGES - 1);
                let is_there = STAGES == 1 || if counted { left as usize >= STAGES } else { numbers.has(ahead) };
                self.fill_next(ahead, is_there, &mut fill);
            }
            if counted {
                number = numbers.number(index);
            }
        } else {
            let mut round = |index: usize, next_is_there: bool| {
                // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code
                // is converged.
                unsafe { self.land::<AllBut<STAGES, false>>() };
                // The wait's barrier came after every thread's last read of this stage, in the
                // round before.
                self.fill_next(index + (STAGES - 1), next_is_there, &mut fill);
                self.consume_next(index, &mut consume);
            };
            if COUNTED {
                let count = numbers.count();
                for index in from..count {
                    round(index, index + (STAGES - 1) < count);
                }
                index = count;
            } else {
                while number < numbers.end() {
                    round(index, numbers.has(index + (STAGES - 1)));
                    (index, number) = (index + 1, numbers.after(number));
                }
            }
        }
        self.ring.restart();
        (self.into_state(), index, number)
    }

    /// Waits for the copies of the next stage, and has the view's threads see them.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call; for a block in converged code. A stage is in
    /// flight.
    #[inline(always)]
    unsafe fn land<P: PendingGroups>(&self) {
        let (landing, lap) = self.ring.next_to_land();
        // SAFETY: the caller's promise; the view synchronises next, unless each thread has waited
        // for the bytes itself.
        unsafe { CompletionOf::<U::Engine>::wait::<P>(landing, lap) };
        if !CompletionOf::<U::Engine>::BY_BYTES {
            // SAFETY: the caller's promise.
            unsafe { U::View::synchronise() };
        }
    }

    /// Has the ring's next stage read, which is that of tile `index`.
    ///
    /// Before the wait one group was committed for each of the tiles `0..index + STAGES - 1`, and
    /// one more if the fill came first. After the wait all but the youngest `STAGES - 2`, or
    /// `STAGES - 1`, have landed.
    #[inline(always)]
    fn consume_next(&mut self, index: usize, consume: &mut impl for<'x> FnMut(&Ready<'x, U, U::View>, usize)) {
        let (tile, present) = self.ring.next_to_read();
        // SAFETY: so tile `index` has landed in every thread, and the view's barrier made it
        // visible to all that the view lets read it. Its stage is filled again in the next round at
        // the earliest, after the view's other barrier.
        let ready = unsafe { Ready::new(tile, present) };
        consume(&ready, index);
        // SAFETY: the tile is a stage of the ring, whose contents have this number of bytes, and no
        // other `Ready` of it is left; it is filled again after the view's next barrier.
        unsafe { U::View::released(tile, stage::bytes::<U>()) };
    }

    /// Fills the ring's next stage with tile `index` if it `is_there`, and closes its group in any
    /// case, so that the number of groups is the same with and without a tile.
    #[inline(always)]
    fn fill_next(
        &mut self,
        index: usize,
        is_there: bool,
        fill: &mut impl for<'x> FnMut(Stage<'x, U>, usize) -> StageFilled<'x, U>,
    ) {
        // A phase of a stage's mbarrier is a fill: a stage that is not filled keeps its place.
        if CompletionOf::<U::Engine>::BY_BYTES && !is_there {
            return;
        }
        let (memory, landing, slot) = self.ring.next_to_fill();
        if is_there {
            // SAFETY: the stage was never filled, or its tile was read in the round before this one
            // and every thread that may read it has passed a barrier since (the callers say which);
            // nobody reads it before the wait of round `index`. The brand is the closure's own, so
            // this stage is the one that comes back filled.
            let stage = unsafe { Stage::new(memory, landing, Arrival::WithCopies) };
            let filled = fill(stage, index);
            self.ring.filled(slot, filled.present());
            self.ring.note_fills();
        }
        // SAFETY: a pipeline exists only where its group runs as one (R2); a group for each index,
        // also where nothing is left to fill.
        unsafe { CompletionOf::<U::Engine>::commit() };
    }
}
