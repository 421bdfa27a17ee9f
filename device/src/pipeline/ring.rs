//! The ring of stages in shared memory: where the next stage to fill and the next to read lie.

use core::marker::PhantomData;

use super::setup::Setup;

use crate::engine::sealed::Engine as _;
use crate::group::Meet;
use crate::isa::PendingGroups;
use crate::stage::presence::Presence;

/// What a ring remembers of a stage's filling.
pub(super) type PresenceOf<U> = <<U as Setup>::Contents as crate::stage::contents::sealed::Contents>::Presence;

/// The stages' memory and two positions in it, and the operations that a step is made of.
///
/// Stages are filled and read in the same order, round and round, so that the oldest stage in
/// flight is the one at `tail`, and the one at `head` is the longest released.
///
/// # Invariants
///
/// 0. `U::COUNT` stages, `U::STRIDE` bytes apart from `base` on, in shared memory and aligned as
///    their contents need, belong to this ring.
/// 1. `head` and `tail` are multiples of `U::STRIDE` below `U::COUNT * U::STRIDE`.
pub(super) struct Ring<U: Setup> {
    base: *mut u8,
    head: u32,
    tail: u32,
    present: <PresenceOf<U> as Presence>::Ring,
    setup: PhantomData<U>,
}

/// The place of a stage in its ring.
#[derive(Clone, Copy)]
pub(super) struct Slot(u32);

impl<U: Setup> Ring<U> {
    /// Makes the ring of the stages at `base`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(base: *mut u8) -> Self {
        Ring { base, head: 0, tail: 0, present: PresenceOf::<U>::EMPTY, setup: PhantomData }
    }

    /// The first byte of the first stage.
    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The next stage to fill, and its place in the ring; the one after it is next from here on.
    #[inline(always)]
    pub(super) fn next_to_fill(&mut self) -> (*mut u8, Slot) {
        let (stage, slot) = (self.stage(self.head), Slot(self.head));
        self.head = Self::after(self.head);
        (stage, slot)
    }

    /// Remembers how a stage was filled.
    #[inline(always)]
    pub(super) fn filled(&mut self, slot: Slot, presence: PresenceOf<U>) {
        presence.mark(&mut self.present, slot.0 / U::STRIDE as u32);
    }

    /// The next stage to read, and what was noted when it was filled; the one after it is next from
    /// here on.
    #[inline(always)]
    pub(super) fn next_to_read(&mut self) -> (*const u8, PresenceOf<U>) {
        let (stage, index) = (self.stage(self.tail), self.tail / U::STRIDE as u32);
        self.tail = Self::after(self.tail);
        (stage.cast_const(), PresenceOf::<U>::of(&self.present, index))
    }

    /// Makes the next stage to fill the next to read: for a ring that holds nothing.
    #[inline(always)]
    pub(super) fn restart(&mut self) {
        self.tail = self.head;
    }

    #[inline(always)]
    fn stage(&self, position: u32) -> *mut u8 {
        // SAFETY: the position lies within the stages (1), which are one allocation (0).
        unsafe { self.base.add(position as usize) }
    }

    #[inline(always)]
    fn after(position: u32) -> u32 {
        let next = position + U::STRIDE as u32;
        if next == (U::COUNT * U::STRIDE) as u32 { 0 } else { next }
    }
}

/// Closes the group of copies of the stage being filled.
///
/// # Safety
///
/// Called by all threads of the group, once for each stage that was filled or left empty.
#[inline(always)]
pub(super) unsafe fn commit<U: Setup>() {
    // SAFETY: the caller's promise.
    unsafe { U::Engine::commit() };
}

/// Waits for all but the youngest `P::GROUPS` groups, then for every thread of the scope: after it
/// all of them see what they copied for the older groups, and none of them reads a stage that it
/// released before.
///
/// # Safety
///
/// All threads of the scope make this call; for a block in converged code.
#[inline(always)]
pub(super) unsafe fn wait<U: Setup, P: PendingGroups>() {
    // SAFETY: the caller's promise; the scope synchronises next.
    unsafe { U::Engine::wait::<P>() };
    // SAFETY: the caller's promise.
    unsafe { U::Group::synchronise() };
}

/// Waits for every thread that may read a stage that was released before.
///
/// # Safety
///
/// All threads of the group make this call; for a block in converged code.
#[inline(always)]
pub(super) unsafe fn launder<U: Setup>() {
    // SAFETY: the caller's promise.
    unsafe { U::Group::launder() };
}

/// The bytes of a stage.
pub(super) const fn bytes<U: Setup>() -> usize {
    <U::Contents as crate::stage::contents::sealed::Contents>::BYTES
}
