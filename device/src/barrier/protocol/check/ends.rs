//! The barriers of a pipeline's two ends, as in [`ends`](super::super::ends), over the model's
//! barriers.

use std::cell::Cell;
use std::sync::Arc;

use super::super::EndBarriers;
use super::barrier::Barrier;
use super::checker::Checker;
use super::pipeline::{Fills, Mistake, Pipeline, Setup};
use super::threads::Thread;

/// One thread of an end.
pub(super) struct End<'t, C: Checker, const STAGES: usize> {
    pub(super) pipeline: Arc<Pipeline<C, STAGES>>,
    pub(super) thread: &'t Thread<C>,
    /// 0 for producers, 1 for consumers.
    end: usize,
    rank: usize,
    /// How often this end has passed each stage.
    passed: [Cell<u32>; STAGES],
    /// How many stages a consumer has that leaves by a mark.
    in_hand: Cell<u32>,
}

/// One thread of the producers.
pub(super) struct ProducerBarriers<'t, C: Checker, const STAGES: usize>(pub(super) End<'t, C, STAGES>);
/// One thread of the consumers.
pub(super) struct ConsumerBarriers<'t, C: Checker, const STAGES: usize>(pub(super) End<'t, C, STAGES>);

impl<'t, C: Checker, const STAGES: usize> End<'t, C, STAGES> {
    fn new(pipeline: &Arc<Pipeline<C, STAGES>>, thread: &'t Thread<C>, end: usize, rank: usize) -> Self {
        let passed = std::array::from_fn(|_| Cell::new(0));
        End { pipeline: pipeline.clone(), thread, end, rank, passed, in_hand: Cell::new(0) }
    }

    fn setup(&self) -> &Setup {
        &self.pipeline.setup
    }

    fn count_pass(&self, stage: u32) -> u32 {
        let passed = &self.passed[stage as usize];
        self.in_hand.set(self.in_hand.get().saturating_sub(1));
        passed.replace(passed.get() + 1)
    }

    fn has_passed(&self, stage: u32) -> u32 {
        self.passed[stage as usize].get()
    }

    /// Waits, and checks that the phase is number `phase` of those that ended, counted from 1.
    fn wait(&self, barrier: &Barrier<C>, parity: u32, phase: u32) {
        assert_eq!(self.thread.wait(barrier, parity), phase, "the wait was for another phase");
    }

    /// Waits unless the phase is marked, and checks which one it is.
    fn wait_unless(&self, barrier: &Barrier<C>, parity: u32, phase: u32) -> bool {
        let ended = self.thread.wait_unless(barrier, parity);
        self.in_hand.set(self.in_hand.get() + u32::from(ended.is_some()));
        assert!(ended.is_none_or(|ended| ended == phase), "the wait was for another phase");
        ended.is_none()
    }

    /// The place of the closing word that the end `end` writes.
    fn closed(&self, end: usize, stage: u32) -> &super::memory::Place {
        let end = if self.setup().has(Mistake::OneClosingWord) { 0 } else { end };
        &self.pipeline.closed[end][stage as usize]
    }

    fn is_closed(&self, stage: u32) -> bool {
        self.thread.branch_on(self.closed(1 - self.end, stage)) != 0
    }

    fn close(&self, stage: u32) {
        if self.rank == 0 {
            self.thread.write(self.closed(self.end, stage), 1);
        }
    }

    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        if self.setup().has(Mistake::NoAgreement) {
            return decide();
        }
        let word = if self.setup().has(Mistake::OneDecisionWord) { 0 } else { turn as usize };
        let (word, decided) = (&self.pipeline.decisions[self.end][word], &self.pipeline.decided[self.end]);
        if self.rank == 0 {
            self.thread.write(word, u32::from(decide()));
        }
        self.thread.arrive(decided);
        self.thread.wait(decided, turn);
        self.thread.read(word) != 0
    }
}

impl<'t, C: Checker, const STAGES: usize> ProducerBarriers<'t, C, STAGES> {
    /// The barriers of the producer of this rank.
    pub(super) fn new(pipeline: &Arc<Pipeline<C, STAGES>>, thread: &'t Thread<C>, rank: usize) -> Self {
        ProducerBarriers(End::new(pipeline, thread, 0, rank))
    }

    /// Fills this thread's part of the stage, which the producers have.
    pub(super) fn fill(&self, stage: u32, tile: u32) {
        let parts = &self.0.pipeline.parts[stage as usize];
        match self.0.setup().fills {
            Fills::Copies => self.0.thread.copy(&parts[self.0.rank], tile + 1),
            Fills::Stores => self.0.thread.write(&parts[self.0.rank], tile + 1),
            Fills::Bulk | Fills::BulkAnnouncedLate if self.0.rank > 0 => {}
            Fills::Bulk => {
                self.announce(stage, parts.len());
                self.0.thread.copy_bulk(self.full(stage), parts, tile + 1);
            }
            Fills::BulkAnnouncedLate => {
                self.0.thread.copy_bulk(self.full(stage), parts, tile + 1);
                self.announce(stage, parts.len());
            }
        }
    }

    fn announce(&self, stage: u32, copies: usize) {
        let times = match self.0.setup().mistake {
            Some(Mistake::TwoAnnouncements) => 2,
            Some(Mistake::NoAnnouncement) => 0,
            _ => 1,
        };
        (0..times).for_each(|_| self.0.thread.expect(self.full(stage), copies));
    }

    /// Says in the stage's word what it holds.
    pub(super) fn tell(&self, stage: u32, tile: u32) {
        if self.0.setup().told && self.0.rank == 0 {
            self.0.thread.write(&self.0.pipeline.present[stage as usize], tile + 1);
        }
    }

    fn arrive(&self, stage: u32) {
        if self.0.rank == 0 || !self.0.setup().has(Mistake::OneArrival) {
            self.0.thread.arrive(self.full(stage));
        }
    }

    fn arrive_told(&self, stage: u32) {
        if self.0.setup().told && !self.0.setup().is_bulk() && self.0.rank == 0 {
            self.0.thread.arrive_again(self.full(stage));
        }
    }

    pub(super) fn full(&self, stage: u32) -> &Arc<Barrier<C>> {
        &self.0.pipeline.full[stage as usize]
    }

    fn empty(&self, stage: u32) -> &Barrier<C> {
        &self.0.pipeline.empty[stage as usize]
    }
}

impl<C: Checker, const STAGES: usize> EndBarriers for ProducerBarriers<'_, C, STAGES> {
    const STAGES: u32 = STAGES as u32;
    const MAY_MARK: bool = true;
    const MAY_PART: bool = false;

    fn is_apart(&self) -> bool {
        false
    }

    // A thread of the model is a warp.
    fn first_in_warp(&self, says: impl FnOnce() -> bool) -> bool {
        says()
    }

    fn wait(&self, stage: u32, parity: u32) {
        // The consumers pass a stage once after each pass of the producers.
        self.0.wait(self.empty(stage), parity, self.0.has_passed(stage));
    }

    fn poll(&self, stage: u32, parity: u32) -> bool {
        self.0.thread.test_wait(self.empty(stage), parity)
    }

    fn marks(&self) -> bool {
        self.0.setup().marks
    }

    fn wait_unless_marked(&self, stage: u32, parity: u32) -> bool {
        self.0.wait_unless(self.empty(stage), parity, self.0.has_passed(stage))
    }

    fn is_marked(&self, stage: u32, parity: u32) -> bool {
        self.empty(stage).is_marked(parity)
    }

    fn mark(&self, stage: u32, parity: u32) {
        if self.0.rank > 0 {
            return;
        }
        let passed = if self.0.setup().has(Mistake::MarkOwnParity) { parity } else { parity ^ 1 };
        match (self.0.setup().has(Mistake::MarkOneEarly), stage) {
            (true, 0) => self.full(STAGES as u32 - 1).mark(passed ^ 1),
            (true, stage) => self.full(stage - 1).mark(passed),
            (false, stage) => self.full(stage).mark(passed),
        }
    }

    fn say_left(&self) {}

    fn land_kept(&self, stage: u32, parity: u32) {
        if self.0.setup().has(Mistake::NoLanding) {
            return;
        }
        match (self.0.setup().has(Mistake::LandingAlone), self.0.rank) {
            (true, 0) => {
                self.0.thread.arrive(&self.0.pipeline.left);
                (1..self.0.setup().producers).for_each(|_| self.0.thread.arrive_again(&self.0.pipeline.left));
            }
            (true, _) => {}
            (false, _) => self.0.thread.arrive(&self.0.pipeline.left),
        }
        if self.0.rank > 0 {
            return;
        }
        if !self.0.setup().has(Mistake::LandingBeforeLeft) {
            self.0.thread.wait(&self.0.pipeline.left, 0);
        }
        self.0.thread.arrive_for_all(self.full(stage));
        self.0.thread.wait(self.full(stage), parity ^ 1);
    }

    fn is_closed(&self, stage: u32) -> bool {
        self.0.is_closed(stage)
    }

    fn close(&self, stage: u32) {
        self.0.close(stage);
    }

    fn pass(&self, stage: u32) {
        self.0.count_pass(stage);
        if self.0.setup().fills == Fills::Copies {
            self.0.thread.arrive_behind_copies(self.full(stage));
        } else {
            self.arrive(stage);
        }
        self.arrive_told(stage);
    }

    fn pass_closed(&self, stage: u32) {
        if self.0.setup().has(Mistake::CloseBehindCopies) {
            return self.pass(stage);
        }
        self.0.count_pass(stage);
        self.arrive(stage);
        self.arrive_told(stage);
    }

    fn drain(&self) {
        let mistakes = [Mistake::NoDraining, Mistake::LeaveByDrop];
        if !mistakes.iter().any(|mistake| self.0.setup().has(*mistake)) {
            self.0.thread.drain();
        }
    }

    fn wait_passed(&self, stage: u32, parity: u32) {
        if self.0.setup().fills != Fills::Stores && !self.0.setup().has(Mistake::NoSettling) {
            self.0.wait(self.full(stage), parity, self.0.has_passed(stage));
        }
    }

    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        self.0.agree(turn, decide)
    }
}

impl<'t, C: Checker, const STAGES: usize> ConsumerBarriers<'t, C, STAGES> {
    /// The barriers of the consumer of this rank.
    pub(super) fn new(pipeline: &Arc<Pipeline<C, STAGES>>, thread: &'t Thread<C>, rank: usize) -> Self {
        ConsumerBarriers(End::new(pipeline, thread, 1, rank))
    }

    /// Reads the whole stage, which the consumers have: all of it is the tile of this number.
    pub(super) fn read(&self, stage: u32, tile: u32) {
        for part in &self.0.pipeline.parts[stage as usize] {
            assert_eq!(self.0.thread.read(part), tile + 1, "the stage holds another tile");
        }
        if self.0.setup().told {
            let told = self.0.thread.read(&self.0.pipeline.present[stage as usize]);
            assert_eq!(told, tile + 1, "the word is another tile's");
        }
    }

    fn full(&self, stage: u32) -> &Barrier<C> {
        &self.0.pipeline.full[stage as usize]
    }

    fn empty(&self, stage: u32) -> &Barrier<C> {
        &self.0.pipeline.empty[stage as usize]
    }
}

impl<C: Checker, const STAGES: usize> EndBarriers for ConsumerBarriers<'_, C, STAGES> {
    const STAGES: u32 = STAGES as u32;
    const MAY_MARK: bool = true;
    const MAY_PART: bool = true;

    fn is_apart(&self) -> bool {
        self.0.setup().apart
    }

    // A thread of the model is a warp.
    fn first_in_warp(&self, says: impl FnOnce() -> bool) -> bool {
        says()
    }

    fn wait(&self, stage: u32, parity: u32) {
        self.0.wait(self.full(stage), parity, self.0.has_passed(stage) + 1);
    }

    fn poll(&self, stage: u32, parity: u32) -> bool {
        self.0.thread.test_wait(self.full(stage), parity)
    }

    fn marks(&self) -> bool {
        self.0.setup().marks
    }

    fn wait_unless_marked(&self, stage: u32, parity: u32) -> bool {
        self.0.wait_unless(self.full(stage), parity, self.0.has_passed(stage) + 1)
    }

    fn is_marked(&self, stage: u32, parity: u32) -> bool {
        self.full(stage).is_marked(parity)
    }

    fn mark(&self, stage: u32, parity: u32) {
        if self.0.rank > 0 {
            return;
        }
        let holds = self.0.in_hand.get() > 0;
        match (holds && self.0.setup().has(Mistake::MarkBehindHeld), stage + 1) {
            (false, _) => self.empty(stage).mark(parity),
            (true, next) if next == STAGES as u32 => self.empty(0).mark(parity ^ 1),
            (true, next) => self.empty(next).mark(parity),
        }
    }

    fn say_left(&self) {
        self.0.thread.arrive(&self.0.pipeline.left);
    }

    fn land_kept(&self, _: u32, _: u32) {}

    fn is_closed(&self, stage: u32) -> bool {
        self.0.is_closed(stage)
    }

    fn close(&self, stage: u32) {
        self.0.close(stage);
    }

    fn pass(&self, stage: u32) {
        self.0.count_pass(stage);
        if self.0.setup().is_bulk() && !self.0.setup().has(Mistake::NoFence) {
            self.0.thread.fence();
        }
        self.0.thread.arrive(self.empty(stage));
    }

    fn pass_closed(&self, stage: u32) {
        self.pass(stage);
    }

    fn drain(&self) {}

    fn wait_passed(&self, _: u32, _: u32) {}

    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        self.0.agree(turn, decide)
    }
}
