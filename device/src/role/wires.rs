//! The protocol's barriers on the GPU and in the CPU executor.

use super::channel::{Channel, PresenceOf};
use super::map::sealed::Role as _;
use super::memory::Memory;
use super::protocol::Wires;
use crate::engine::sealed::Engine as _;
use crate::isa::{self, Members};
use crate::stage::presence::Presence;

/// The producers' end of the barriers.
///
/// # Invariants
///
/// 0. `producers` are the threads that run the calling code, and those for which the barriers were
///    made.
pub(super) struct ProducerWires<K> {
    memory: Memory<K>,
    producers: Members,
}

/// The consumers' end of the barriers.
pub(super) struct ConsumerWires<K>(pub(super) Memory<K>);

impl<K: Channel> ProducerWires<K> {
    /// The end of a role all of whose threads take its steps.
    #[inline(always)]
    pub(super) fn of_role(memory: Memory<K>) -> Self {
        ProducerWires { memory, producers: K::From::MEMBERS }
    }

    /// The end of those threads of a role that copy: for a driver, whose barriers count no others.
    #[inline(always)]
    pub(super) fn of_copiers(memory: Memory<K>) -> Self {
        ProducerWires { memory, producers: Memory::<K>::COPIERS }
    }
}

impl<K: Channel> ProducerWires<K> {
    /// Says whether the stage that the producers have filled holds a tile.
    #[inline(always)]
    pub(super) fn tell(&self, stage: u32, presence: PresenceOf<K>) {
        if PresenceOf::<K>::TOLD {
            // SAFETY: this is the producers' first thread, and they have the stage.
            isa::for_first_member(self.producers, || unsafe { self.memory.write_presence(stage, presence) });
        }
    }

    /// The arrival behind the word that says whether there is a tile.
    #[inline(always)]
    fn arrive_told(&self, stage: u32) {
        if PresenceOf::<K>::TOLD {
            // SAFETY: the barrier counts one such arrival a phase.
            unsafe { isa::mbarrier_arrive_first(self.memory.full(stage), self.producers) };
        }
    }
}

impl<K: Channel> Wires for ProducerWires<K> {
    const STAGES: u32 = K::COUNT as u32;

    #[inline(always)]
    fn wait(&self, stage: u32, parity: u32) {
        // SAFETY: `init` made the barrier.
        unsafe { isa::mbarrier_wait(self.memory.empty(stage), parity) };
    }

    #[inline(always)]
    fn poll(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier.
        unsafe { isa::mbarrier_poll(self.memory.empty(stage), parity) }
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
        // it behind the arrivals that follow.
        isa::for_first_member(self.producers, || unsafe { self.memory.closed(0, stage).write(1) });
    }

    #[inline(always)]
    fn pass(&self, stage: u32) {
        let full = self.memory.full(stage);
        if K::Engine::ASYNCHRONOUS {
            // SAFETY: the barrier counts an arrival of each producer a phase; the producers have
            // the stage, so this phase has had none.
            unsafe { isa::cp_async_mbarrier_arrive(full, self.producers) };
        } else {
            // SAFETY: the barrier counts an arrival of each producer a phase; the producers have
            // the stage, so this phase has had none.
            unsafe { isa::mbarrier_arrive(full, self.producers) };
        }
        self.arrive_told(stage);
    }

    #[inline(always)]
    fn pass_closed(&self, stage: u32) {
        // SAFETY: the barrier counts an arrival of each producer a phase; the producers have the
        // stage, so this phase has had none. Ordinary arrivals do: the closing word is an ordinary
        // store.
        unsafe { isa::mbarrier_arrive(self.memory.full(stage), self.producers) };
        self.arrive_told(stage);
    }

    #[inline(always)]
    fn drain(&self) {
        isa::cp_async_wait_all();
    }

    #[inline(always)]
    fn wait_passed(&self, stage: u32, parity: u32) {
        if K::Engine::ASYNCHRONOUS {
            // SAFETY: `init` made the barrier.
            unsafe { isa::mbarrier_wait(self.memory.full(stage), parity) };
        }
    }

    #[inline(always)]
    fn agree(&self, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        self.memory.agree_in(self.producers, 0, turn, decide)
    }
}

impl<K: Channel> Wires for ConsumerWires<K> {
    const STAGES: u32 = K::COUNT as u32;

    #[inline(always)]
    fn wait(&self, stage: u32, parity: u32) {
        // SAFETY: `init` made the barrier.
        unsafe { isa::mbarrier_wait(self.0.full(stage), parity) };
    }

    #[inline(always)]
    fn poll(&self, stage: u32, parity: u32) -> bool {
        // SAFETY: `init` made the barrier.
        unsafe { isa::mbarrier_poll(self.0.full(stage), parity) }
    }

    #[inline(always)]
    fn is_closed(&self, stage: u32) -> bool {
        // SAFETY: the consumers have the stage, so the producers wrote their word before the
        // arrivals that were waited for, or never.
        unsafe { self.0.closed(0, stage).read() != 0 }
    }

    #[inline(always)]
    fn close(&self, stage: u32) {
        // SAFETY: the consumers have the stage; the word is theirs to write, and the producers read
        // it behind the arrivals that follow.
        isa::for_first_member(K::To::MEMBERS, || unsafe { self.0.closed(1, stage).write(1) });
    }

    #[inline(always)]
    fn pass(&self, stage: u32) {
        // SAFETY: EMPTIED counts these arrivals a phase; the consumers have the stage, so this
        // phase has had none.
        unsafe { isa::mbarrier_arrive(self.0.empty(stage), K::To::MEMBERS) };
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
        self.0.agree_in(K::To::MEMBERS, 1, turn, decide)
    }
}
