//! The two ends' barriers, on the GPU and in the CPU executor.

use super::Handover;
use super::memory::Memory;
use super::protocol::EndBarriers;
use crate::engine::{Completion, CompletionOf, UnannouncedOf, drain_all};
use crate::isa::{self, Members};
use crate::stage::PresenceOf;
use crate::stage::presence::Presence;

/// The producers' end of the barriers.
///
/// # Invariants
///
/// 0. `producers` are the threads that run the calling code, and those for which the barriers were
///    made.
/// 1. If there is something `unannounced`, copies of so many bytes into the stage that is passed
///    next were started and not announced, where copies complete by bytes. There is one producer
///    then.
pub(crate) struct ProducerBarriers<K: Handover> {
    memory: Memory<K>,
    producers: Members,
    unannounced: Option<UnannouncedOf<K::Engine>>,
}

/// The consumers' end of the barriers.
pub(crate) struct ConsumerBarriers<K>(pub(crate) Memory<K>);

impl<K: Handover> ProducerBarriers<K> {
    /// The end of a role all of whose threads take its steps.
    #[inline(always)]
    pub(crate) fn of_role(memory: Memory<K>) -> Self {
        ProducerBarriers { memory, producers: K::PRODUCERS, unannounced: None }
    }

    /// The end of those threads of a role that copy: for a driver, whose barriers count no others.
    #[inline(always)]
    pub(crate) fn of_copiers(memory: Memory<K>) -> Self {
        ProducerBarriers { memory, producers: Memory::<K>::COPIERS, unannounced: None }
    }

    /// The same end of the threads that copy, which announces these bytes, of a stage that they
    /// have filled, when it passes the stage on.
    #[inline(always)]
    pub(crate) fn announcing(&self, bytes: UnannouncedOf<K::Engine>) -> Self {
        const { assert!(!CompletionOf::<K::Engine>::BY_BYTES || Memory::<K>::COPIERS.count == 1) };
        ProducerBarriers { memory: self.memory, producers: self.producers, unannounced: Some(bytes) }
    }
}

impl<K: Handover> ProducerBarriers<K> {
    /// Says whether the stage that the producers have filled holds a tile.
    #[inline(always)]
    pub(crate) fn tell(&self, stage: u32, presence: PresenceOf<K>) {
        if PresenceOf::<K>::TOLD {
            // SAFETY: this is the producers' first thread, and they have the stage.
            isa::for_first_member(self.producers, || unsafe { self.memory.write_presence(stage, presence) });
        }
    }

    /// The arrival after the word that says whether there is a tile.
    #[inline(always)]
    fn arrive_told(&self, stage: u32) {
        if Memory::<K>::TOLD_APART {
            // SAFETY: the barrier counts one such arrival per phase.
            unsafe { isa::mbarrier_arrive_first(self.memory.full(stage), self.producers) };
        }
    }
}

impl<K: Handover> EndBarriers for ProducerBarriers<K> {
    const STAGES: u32 = K::COUNT as u32;
    const MAY_MARK: bool = Memory::<K>::OF_PRODUCTS;
    const MAY_PART: bool = false;

    #[inline(always)]
    fn is_apart(&self) -> bool {
        false
    }

    #[inline(always)]
    fn first_in_warp(&self, says: impl FnOnce() -> bool) -> bool {
        says()
    }

    #[inline(always)]
    fn marks(&self) -> bool {
        Self::MAY_MARK
    }

    #[inline(always)]
    fn wait(&self, stage: u32, parity: u32) {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`).
        unsafe { Memory::<K>::wait_for(self.memory.empty(stage), parity) };
    }

    #[inline(always)]
    fn poll(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`).
        unsafe { isa::mbarrier_poll(self.memory.empty(stage), parity) }
    }

    #[inline(always)]
    fn wait_unless_marked(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`); all producers
        // wait, at role level.
        unsafe { self.memory.wait_unless_marked(self.memory.handed_by(1, stage, parity), self.producers) }
    }

    #[inline(always)]
    fn is_marked(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: the word lies in the pipeline's memory, and `init` cleared it.
        unsafe { isa::is_marked(self.memory.handed_by(1, stage, parity)) }
    }

    #[inline(always)]
    fn mark(&self, stage: u32, parity: u32) {
        // What the producers get with the phase of one parity they pass with that of the other.
        let phase = self.memory.handed_by(0, stage, parity ^ 1);
        // SAFETY: the word lies in the pipeline's memory, and the producers alone write it.
        isa::for_first_member(self.producers, || unsafe { isa::mark_phase(phase) });
    }

    #[inline(always)]
    fn say_left(&self) {}

    #[inline(always)]
    fn land_kept(&self, stage: u32, parity: u32) {
        // SAFETY: all producers leave, at role level, once. The stage was marked with the phase of
        // the other parity (`mark`), so nobody has arrived there.
        unsafe { self.memory.land_kept(stage, parity ^ 1) };
    }

    #[inline(always)]
    fn is_closed(&self, stage: u32) -> bool {
        // SAFETY: the producers have the stage, so the consumers wrote their word before the
        // arrivals that were waited for, or never.
        unsafe { self.memory.closed(1, stage).read() != 0 }
    }

    #[inline(always)]
    fn close(&self, stage: u32) {
        // SAFETY: the producers have the stage; the word is theirs to write, and the consumers read
        // it after the arrivals that follow.
        isa::for_first_member(self.producers, || unsafe { self.memory.closed(0, stage).write(1) });
    }

    #[inline(always)]
    fn pass(&self, stage: u32) {
        match self.unannounced {
            // SAFETY: the barrier counts an arrival of each producer per phase; the producers have
            // the stage, so this phase has had none.
            None => unsafe { CompletionOf::<K::Engine>::arrive(self.memory.full(stage), self.producers) },
            // SAFETY: as above; these are the stage's bytes, and there is one producer where they
            // count (1).
            Some(bytes) => unsafe {
                CompletionOf::<K::Engine>::arrive_with(self.memory.full(stage), self.producers, bytes);
            },
        }
        self.arrive_told(stage);
    }

    #[inline(always)]
    fn pass_closed(&self, stage: u32) {
        // SAFETY: the barrier counts an arrival of each producer per phase; the producers have the
        // stage, so this phase has had none. Ordinary arrivals suffice: the closing word is an
        // ordinary store.
        unsafe { isa::mbarrier_arrive(self.memory.full(stage), self.producers) };
        self.arrive_told(stage);
    }

    #[inline(always)]
    fn drain(&self) {
        drain_all();
    }

    #[inline(always)]
    fn wait_passed(&self, stage: u32, parity: u32) {
        if CompletionOf::<K::Engine>::LATE_ARRIVALS {
            // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`).
            unsafe { Memory::<K>::wait_for(self.memory.full(stage), parity) };
        }
    }

    #[inline(always)]
    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        self.memory.agree_in(self.producers, 0, turn, decide)
    }
}

impl<K: Handover> EndBarriers for ConsumerBarriers<K> {
    const STAGES: u32 = K::COUNT as u32;
    const MAY_MARK: bool = Memory::<K>::OF_PRODUCTS;
    const MAY_PART: bool = K::APART;

    #[inline(always)]
    fn is_apart(&self) -> bool {
        K::APART
    }

    #[inline(always)]
    fn first_in_warp(&self, says: impl FnOnce() -> bool) -> bool {
        // SAFETY: an end of which the warps may leave at different stages is one of warpgroups, all
        // of whose threads take the same steps.
        unsafe { isa::first_in_warp(says) }
    }

    #[inline(always)]
    fn marks(&self) -> bool {
        Self::MAY_MARK
    }

    #[inline(always)]
    fn wait(&self, stage: u32, parity: u32) {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`).
        unsafe { Memory::<K>::wait_for(self.0.full(stage), parity) };
    }

    #[inline(always)]
    fn poll(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`).
        unsafe { isa::mbarrier_poll(self.0.full(stage), parity) }
    }

    #[inline(always)]
    fn wait_unless_marked(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier, and a parity is 0 or 1 (`EndBarriers`); all consumers
        // wait, at role level.
        unsafe { self.0.wait_unless_marked(self.0.handed_by(0, stage, parity), K::CONSUMERS) }
    }

    #[inline(always)]
    fn is_marked(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: the word lies in the pipeline's memory, and `init` cleared it.
        unsafe { isa::is_marked(self.0.handed_by(0, stage, parity)) }
    }

    #[inline(always)]
    fn mark(&self, stage: u32, parity: u32) {
        // What the consumers get with a phase they pass with that of the same parity.
        let phase = self.0.handed_by(1, stage, parity);
        // SAFETY: the word lies in the pipeline's memory, and the consumers alone write it.
        isa::for_first_member(K::CONSUMERS, || unsafe { isa::mark_phase(phase) });
    }

    #[inline(always)]
    fn say_left(&self) {
        // SAFETY: all consumers leave, at role level, once.
        unsafe { self.0.say_left() };
    }

    #[inline(always)]
    fn land_kept(&self, _: u32, _: u32) {}

    #[inline(always)]
    fn is_closed(&self, stage: u32) -> bool {
        // SAFETY: the consumers have the stage, so the producers wrote their word before the
        // arrivals that were waited for, or never.
        unsafe { self.0.closed(0, stage).read() != 0 }
    }

    #[inline(always)]
    fn close(&self, stage: u32) {
        // SAFETY: the consumers have the stage; the word is theirs to write, and the producers read
        // it after the arrivals that follow.
        isa::for_first_member(K::CONSUMERS, || unsafe { self.0.closed(1, stage).write(1) });
    }

    #[inline(always)]
    fn pass(&self, stage: u32) {
        if Memory::<K>::READ_BY_THREADS {
            // This thread's reads of the stage come before the copies of its next fill.
            CompletionOf::<K::Engine>::fence();
            // SAFETY: EMPTIED counts these arrivals per phase; the consumers have the stage, so
            // this phase has had none.
            unsafe { isa::mbarrier_arrive(self.0.empty(stage), K::CONSUMERS) };
        } else {
            // Products alone have read it, which each warp has waited for.
            // SAFETY: EMPTIED counts these arrivals per phase; the consumers have the stage, so
            // this phase has had none. They are whole warps (`READ_BY_THREADS`), converged at role
            // level.
            unsafe { isa::mbarrier_arrive_warps(self.0.empty(stage), K::CONSUMERS) };
        }
    }

    #[inline(always)]
    fn pass_closed(&self, stage: u32) {
        self.pass(stage);
    }

    #[inline(always)]
    fn drain(&self) {}

    #[inline(always)]
    fn wait_passed(&self, _: u32, _: u32) {}

    #[inline(always)]
    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        self.0.agree_in(K::CONSUMERS, 1, turn, decide)
    }
}
