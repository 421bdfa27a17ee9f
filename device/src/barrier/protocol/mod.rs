//! The protocol of the two ends of a pipeline between roles, apart from the barriers that carry it.
//!
//! Both ends run the same machine. A stage passes from the producers to the consumers by its `full`
//! barrier and back by its `empty` one; each end waits at one of the two and arrives at the other.
//! A role that leaves passes one last stage, marked as closed; or, in pipelines whose ends leave by
//! marks, none, and says which stage it does not pass (docs/decisions/94).
//!
//! The machine knows barriers through [`EndBarriers`] alone: those of the GPU and of the CPU
//! executor are in [`ends`](super::ends), and those of a model checker are in the tests of this
//! module.

use super::Closed;

#[cfg(test)]
mod check;

/// What one end does to the barriers of its pipeline. Every thread of the role makes the same calls
/// in the same order. A parity is 0 or 1, and so is a turn.
pub(crate) trait EndBarriers {
    /// The number of stages.
    const STAGES: u32;

    /// Whether ends of this type may leave by a mark. (A constant: kernels whose ends do not are to
    /// have nothing of it in their code before it is optimised.)
    const MAY_MARK: bool;

    /// Whether the ends of this pipeline leave by a mark ([`mark`](Self::mark)), and not by a stage
    /// that is passed closed.
    fn marks(&self) -> bool;

    /// Whether the warps of an end of this type may go different ways. (A constant, as `MAY_MARK`.)
    const MAY_PART: bool;

    /// Whether the warps of this end go different ways, and leave at different stages. They then
    /// mark none, and pass all that still come until the other end has left. Such an end is one of
    /// a pipeline whose ends leave by marks.
    fn is_apart(&self) -> bool;

    /// What the first thread of the calling thread's warp says. (Ends whose warps go different
    /// ways ask, and no others.)
    fn first_in_warp(&self, says: impl FnOnce() -> bool) -> bool;

    /// Waits until this end has stage `stage`: for phase `parity` of the barrier at which the other
    /// end arrives.
    fn wait(&self, stage: u32, parity: u32);

    /// Whether such a wait would return at once.
    fn poll(&self, stage: u32, parity: u32) -> bool;

    /// Whether the other end passed the stage, which this end has, as closed. What this end itself
    /// marks doesn't count: its first thread may have left while others have yet to ask.
    fn is_closed(&self, stage: u32) -> bool;

    /// Marks the stage, which this end has, as closed: in one thread of the role.
    fn close(&self, stage: u32);

    /// Hands the stage over with what this thread did to it: one arrival at the other end's
    /// barrier, perhaps when its copies land.
    fn pass(&self, stage: u32);

    /// Waits as [`wait`](Self::wait), unless the other end has marked that phase: whether it has.
    fn wait_unless_marked(&self, stage: u32, parity: u32) -> bool;

    /// Whether the other end has marked this phase of the barrier at which this one waits.
    fn is_marked(&self, stage: u32, parity: u32) -> bool;

    /// Says that this end passes neither the stage `stage` that it gets, or has got, with the phase
    /// of `parity`, nor any after it: in one thread of the role.
    fn mark(&self, stage: u32, parity: u32);

    /// Says that this thread waits for no phase any more: an arrival, once. Nothing for the
    /// producers.
    fn say_left(&self);

    /// Waits until copies have landed into a stage that this end had in hand when it marked it, and
    /// may have started to fill. When all threads of this end are here, and those of the other end
    /// have said that they left, one thread makes the arrivals of the phase in which the stage
    /// would have been passed.
    fn land_kept(&self, stage: u32, parity: u32);

    /// Hands the stage over closed: all arrivals that the phase counts, each after what its thread
    /// wrote.
    fn pass_closed(&self, stage: u32);

    /// Waits until all copies that this thread started have landed. Nothing for an end that starts
    /// none.
    fn drain(&self);

    /// Waits until the stage's phase `parity` of the barrier at which this end arrives is complete.
    /// Nothing for an end all of whose arrivals happen at once.
    fn wait_passed(&self, stage: u32, parity: u32);

    /// Has the role's first thread decide, once, and returns its decision in every thread. `turn`
    /// is 0 at the first call, and then alternates between 1 and 0.
    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool;
}

/// One end, as every thread of its role keeps it.
///
/// # Invariants
///
/// 0. `stage < STAGES`. If `holds`, this end has the stage `stage` and has not passed it since, and
///    perhaps stages behind it in the order of the ring: how many, its owner knows, who passes the
///    number to each step. The next stage is the one behind those in hand.
/// 1. The phase of `parity` of this end's barrier of `stage` is the one with which this end got it,
///    if it is in hand, or else gets it next; of the stages behind the ring's end the phases are
///    those of the other parity. `parity` and `turn` are 0 or 1.
/// 2. A step that waits is taken with fewer stages in hand than there are. So the next stage is not
///    in hand, and as a stage's next phase can't end before this end passes it, no wait lags by
///    more than one phase.
/// 3. Once `closed`, this end neither waits nor arrives any more.
#[derive(Clone, Copy, Debug)]
pub struct EndState {
    stage: u32,
    parity: u32,
    turn: u32,
    holds: bool,
    closed: bool,
    /// Whether it has marked a stage that it had.
    kept: bool,
}

impl EndState {
    /// A producer's end: all stages are empty, as if the consumers had passed each once. (Waiting
    /// for parity 1 at a new barrier returns at once.)
    #[inline(always)]
    pub(crate) const fn producer() -> Self {
        EndState { stage: 0, parity: 1, turn: 0, holds: false, closed: false, kept: false }
    }

    /// A consumer's end: no stage was ever filled.
    #[inline(always)]
    pub(crate) const fn consumer() -> Self {
        EndState { stage: 0, parity: 0, turn: 0, holds: false, closed: false, kept: false }
    }

    /// Waits for the next stage and takes it, with none in hand.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the other end has left, from then on.
    #[inline(always)]
    pub(crate) fn take<W: EndBarriers>(&mut self, barriers: &W) -> Result<u32, Closed> {
        if self.closed {
            return Err(Closed);
        }
        if W::MAY_MARK && barriers.marks() {
            return self.take_unless_marked(barriers, self.stage, self.parity);
        }
        barriers.wait(self.stage, self.parity);
        self.taken(barriers)
    }

    /// As [`take`](Self::take), with `held` stages in hand.
    ///
    /// # Errors
    ///
    /// [`Closed`] as for `take`. What is in hand stays there.
    #[inline(always)]
    pub(crate) fn take_another<W: EndBarriers>(&mut self, barriers: &W, held: u32) -> Result<u32, Closed> {
        if self.closed {
            return Err(Closed);
        }
        let (stage, parity) = self.next::<W>(held);
        if W::MAY_MARK && barriers.marks() {
            return self.take_unless_marked(barriers, stage, parity);
        }
        barriers.wait(stage, parity);
        self.taken_at(barriers, stage)
    }

    /// Waits for that phase of this end's barrier, and takes the stage that it brings.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the other end has marked it.
    #[inline(always)]
    fn take_unless_marked<W: EndBarriers>(&mut self, barriers: &W, stage: u32, parity: u32) -> Result<u32, Closed> {
        if barriers.wait_unless_marked(stage, parity) {
            self.closed = true;
            return Err(Closed);
        }
        self.holds = true;
        Ok(stage)
    }

    /// Takes the next stage, with none in hand, if it comes while `keep_polling` returns true;
    /// calls `keep_polling` after each unsuccessful poll.
    #[inline(always)]
    pub(crate) fn take_while<W: EndBarriers>(
        &mut self,
        barriers: &W,
        mut keep_polling: impl FnMut() -> bool,
    ) -> Option<Result<u32, Closed>> {
        if self.closed {
            return Some(Err(Closed));
        }
        let (stage, parity) = (self.stage, self.parity);
        let ready = barriers.agree(self.turn, || {
            loop {
                if barriers.poll(stage, parity)
                    || (W::MAY_MARK && barriers.marks() && barriers.is_marked(stage, parity))
                {
                    return true;
                }
                if !keep_polling() {
                    return false;
                }
            }
        });
        self.turn ^= 1;
        if !ready {
            return None;
        }
        // The first thread has seen the phase end, or its mark, so this returns at once; each
        // thread waits nevertheless, because its own wait is what makes the stage visible to it.
        if W::MAY_MARK && barriers.marks() {
            return Some(self.take_unless_marked(barriers, stage, parity));
        }
        barriers.wait(stage, parity);
        Some(self.taken(barriers))
    }

    /// As [`take_while`](Self::take_while), with `held` stages in hand. (Of a function that both
    /// call, LLVM makes other code for roles of several ends.)
    #[inline(always)]
    pub(crate) fn take_another_while<W: EndBarriers>(
        &mut self,
        barriers: &W,
        held: u32,
        mut keep_polling: impl FnMut() -> bool,
    ) -> Option<Result<u32, Closed>> {
        if self.closed {
            return Some(Err(Closed));
        }
        let (stage, parity) = self.next::<W>(held);
        let ready = barriers.agree(self.turn, || {
            loop {
                if barriers.poll(stage, parity)
                    || (W::MAY_MARK && barriers.marks() && barriers.is_marked(stage, parity))
                {
                    return true;
                }
                if !keep_polling() {
                    return false;
                }
            }
        });
        self.turn ^= 1;
        if !ready {
            return None;
        }
        // The first thread has seen the phase end, or its mark, so this returns at once; each
        // thread waits nevertheless, because its own wait is what makes the stage visible to it.
        if W::MAY_MARK && barriers.marks() {
            return Some(self.take_unless_marked(barriers, stage, parity));
        }
        barriers.wait(stage, parity);
        Some(self.taken_at(barriers, stage))
    }

    /// Waits for the next stage of an end whose other end does not leave, and takes it.
    #[inline(always)]
    pub(crate) fn take_open<W: EndBarriers>(&mut self, barriers: &W) -> u32 {
        barriers.wait(self.stage, self.parity);
        self.stage
    }

    /// Passes the stage that this end holds, the only one.
    #[inline(always)]
    pub(crate) fn pass<W: EndBarriers>(&mut self, barriers: &W) {
        barriers.pass(self.stage);
        self.advance::<W>();
    }

    /// Passes the oldest of `held` stages in hand, by `pass`, which makes the arrivals of
    /// [`EndBarriers::pass`]. Nothing of the kind once the other end has left: it waits for nothing
    /// any more.
    #[inline(always)]
    pub(crate) fn pass_oldest<W: EndBarriers>(&mut self, held: u32, pass: impl FnOnce(u32)) {
        if !self.closed {
            pass(self.stage);
        }
        // As a step that takes another stage with this one in hand has computed it.
        (self.stage, self.parity) = self.next::<W>(1);
        self.holds = held > 1;
    }

    /// The oldest stage in hand.
    #[inline(always)]
    pub(crate) fn oldest(&self) -> u32 {
        self.stage
    }

    /// As [`pass`](Self::pass), after `tell` was told the stage.
    #[inline(always)]
    pub(crate) fn pass_told<W: EndBarriers>(&mut self, barriers: &W, tell: impl FnOnce(u32)) {
        tell(self.stage);
        self.pass(barriers);
    }

    /// Passes what all threads of a warp have alike through `same`, which says so.
    #[inline(always)]
    pub(crate) fn say_the_same(&mut self, same: impl Fn(u32) -> u32) {
        self.stage = same(self.stage);
        self.parity = same(self.parity);
    }

    /// Leaves the pipeline: the other end gets a closed stage unless it has left too.
    ///
    /// The oldest stage in hand is the closed one, and no other is passed. With none in hand this
    /// end waits for the next stage, which the other end passes or closes unless it waits
    /// elsewhere.
    ///
    /// An end that marks passes none and does not wait for one: the stage that would be closed is
    /// the one that it marks.
    /// This end's copies have landed ([`EndBarriers::drain`]). Of an end whose warps go different
    /// ways [`try_leave`](Self::try_leave) has returned true.
    #[inline(always)]
    pub(crate) fn leave<W: EndBarriers>(&mut self, barriers: &W) {
        if W::MAY_PART && barriers.is_apart() {
            // It has passed all that came.
        } else if W::MAY_MARK && barriers.marks() {
            self.mark(barriers);
        } else if !self.closed && (self.holds || self.take(barriers).is_ok()) {
            self.close(barriers);
        }
        self.settle(barriers);
    }

    /// As [`leave`](Self::leave), but if the next stage has not come yet it returns false: for a
    /// role of several ends, which leaves them in the order in which it can.
    ///
    /// An end that the other one waits for can always leave at once: whoever waits has passed all
    /// stages that it had, so the next one is here. So no role waits forever for one that leaves.
    #[inline(always)]
    pub(crate) fn try_leave<W: EndBarriers>(&mut self, barriers: &W) -> bool {
        if W::MAY_PART && barriers.is_apart() {
            return self.pass_next(barriers);
        }
        if W::MAY_MARK && barriers.marks() {
            self.mark(barriers);
            return true;
        }
        if self.closed {
            return true;
        }
        if !self.holds {
            match self.take_while(barriers, || false) {
                None => return false,
                Some(Err(Closed)) => return true,
                Some(Ok(_)) => {}
            }
        }
        self.close(barriers);
        true
    }

    /// Whether the other end has left, of an end whose warps go different ways: asked by the
    /// calling thread for its warp. Of other ends it is not asked.
    #[inline(always)]
    pub(crate) fn other_has_left<W: EndBarriers>(&self, barriers: &W) -> bool {
        W::MAY_PART && barriers.is_apart() && barriers.is_marked(self.stage, self.parity)
    }

    /// Passes the next stage, or the oldest one in hand, if it has come by now; whether none comes
    /// any more.
    ///
    /// Of stages in hand the phases are complete, and no further ones can be before they are
    /// passed: they are waited for again, at once. Whether the other end has left is asked again
    /// too: if `closed` were read here, LLVM would keep it in memory. It is asked first, since at a
    /// kernel's end the other one has mostly left.
    #[inline(always)]
    fn pass_next<W: EndBarriers>(&mut self, barriers: &W) -> bool {
        let (stage, parity) = (self.stage, self.parity);
        if barriers.first_in_warp(|| barriers.is_marked(stage, parity)) {
            return true;
        }
        // The threads of a warp arrive together.
        if !barriers.first_in_warp(|| barriers.poll(stage, parity)) {
            return false;
        }
        // At once, and in each thread.
        barriers.wait(stage, parity);
        self.pass(barriers);
        false
    }

    /// Waits until all arrivals of this end have happened, once it has left.
    #[inline(always)]
    pub(crate) fn settle<W: EndBarriers>(&self, barriers: &W) {
        for stage in 0..W::STAGES {
            // This is the phase with which this end last passed the stage, in this lap or in the
            // one before. (In the first lap that is the phase before a new barrier's first, which
            // counts as complete.)
            barriers.wait_passed(stage, if stage < self.stage { self.parity ^ 1 } else { self.parity });
        }
    }

    /// Passes the oldest stage in hand as closed, and waits and arrives no more.
    #[inline(always)]
    fn close<W: EndBarriers>(&mut self, barriers: &W) {
        barriers.close(self.stage);
        barriers.pass_closed(self.stage);
        self.advance::<W>();
        self.closed = true;
    }

    /// Says that this thread waits at no barrier of the pipeline any more. Called once, when its
    /// role has left all its pipelines.
    #[inline(always)]
    pub(crate) fn say_left<W: EndBarriers>(&self, barriers: &W) {
        if W::MAY_MARK && barriers.marks() {
            barriers.say_left();
        }
    }

    /// Waits for copies into a stage that this end had when it left by a mark. (They complete a
    /// phase of which the other end must not hear.)
    ///
    /// Called when this role has said so of all its ends. So nothing that the other end's role
    /// still waits for, before it says so too, is this role's.
    #[inline(always)]
    pub(crate) fn land_kept<W: EndBarriers>(&self, barriers: &W) {
        if W::MAY_MARK && barriers.marks() && self.kept {
            barriers.land_kept(self.stage, self.parity);
        }
    }

    /// Marks the oldest stage in hand, or the next one, and waits and arrives no more.
    #[inline(always)]
    fn mark<W: EndBarriers>(&mut self, barriers: &W) {
        if !self.closed {
            barriers.mark(self.stage, self.parity);
            self.kept = self.holds;
            self.closed = true;
        }
    }

    #[inline(always)]
    fn taken<W: EndBarriers>(&mut self, barriers: &W) -> Result<u32, Closed> {
        self.taken_at(barriers, self.stage)
    }

    /// Takes the stage for which this end has waited, and returns it.
    ///
    /// # Errors
    ///
    /// [`Closed`] if it was passed closed.
    #[inline(always)]
    pub(crate) fn taken_at<W: EndBarriers>(&mut self, barriers: &W, stage: u32) -> Result<u32, Closed> {
        if barriers.is_closed(stage) {
            self.closed = true;
            return Err(Closed);
        }
        self.holds = true;
        Ok(stage)
    }

    /// The stage behind `held` ones in hand, and the parity of the phase that brings it.
    #[inline(always)]
    fn next<W: EndBarriers>(&self, held: u32) -> (u32, u32) {
        let next = self.stage + held;
        if next < W::STAGES { (next, self.parity) } else { (next - W::STAGES, self.parity ^ 1) }
    }

    #[inline(always)]
    fn advance<W: EndBarriers>(&mut self) {
        self.holds = false;
        self.stage += 1;
        if self.stage == W::STAGES {
            self.stage = 0;
            self.parity ^= 1;
        }
    }
}
