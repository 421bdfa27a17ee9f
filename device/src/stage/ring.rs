//! The ring of stages in shared memory: where the next stage to fill and the next to read lie.

use core::marker::PhantomData;

use super::presence::Presence;
use super::{PresenceOf, StageSet};

/// The stages' memory and two positions in it, and the operations that a step is made of.
///
/// Stages are filled and read in ring buffer order. So the stage at `tail` is the oldest in flight,
/// and the one at `head` was released longest ago.
///
/// # Invariants
///
/// 0. `K::COUNT` stages, `K::STRIDE` bytes apart from `base` on, in shared memory and aligned as
///    their contents need, belong to this ring.
/// 1. `head` and `tail` are multiples of `K::STRIDE` below `K::COUNT * K::STRIDE`.
pub(crate) struct Ring<K: StageSet> {
    base: *mut u8,
    head: u32,
    tail: u32,
    present: <PresenceOf<K> as Presence>::Ring,
    stages: PhantomData<K>,
}

/// The place of a stage in its ring.
#[derive(Clone, Copy)]
pub(crate) struct Slot(u32);

impl<K: StageSet> Ring<K> {
    /// Makes the ring of the stages at `base`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(crate) unsafe fn new(base: *mut u8) -> Self {
        Ring { base, head: 0, tail: 0, present: PresenceOf::<K>::EMPTY, stages: PhantomData }
    }

    /// The first byte of the first stage.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Returns the next stage to fill and its place in the ring, and advances the head.
    #[inline(always)]
    pub(crate) fn next_to_fill(&mut self) -> (*mut u8, Slot) {
        let (stage, slot) = (self.stage(self.head), Slot(self.head));
        self.head = Self::after(self.head);
        (stage, slot)
    }

    /// Remembers how a stage was filled.
    #[inline(always)]
    pub(crate) fn filled(&mut self, slot: Slot, presence: PresenceOf<K>) {
        presence.mark(&mut self.present, slot.0 / K::STRIDE as u32);
    }

    /// Returns the next stage to read and what was noted when it was filled, and advances the tail.
    #[inline(always)]
    pub(crate) fn next_to_read(&mut self) -> (*const u8, PresenceOf<K>) {
        const { assert!(K::STRIDE.is_multiple_of(16)) };
        // With this the compiler for the GPU knows how a tile is aligned, and loads elements in a
        // row at once.
        // SAFETY: the tail is a multiple of the stages' stride (1), and that is one of 16.
        unsafe { core::hint::assert_unchecked(self.tail.is_multiple_of(16)) };
        let (stage, index) = (self.stage(self.tail), self.tail / K::STRIDE as u32);
        self.tail = Self::after(self.tail);
        (stage.cast_const(), PresenceOf::<K>::of(&self.present, index))
    }

    /// Makes the next stage to fill the next to read: for a ring that holds nothing.
    #[inline(always)]
    pub(crate) fn restart(&mut self) {
        self.tail = self.head;
    }

    #[inline(always)]
    fn stage(&self, position: u32) -> *mut u8 {
        // SAFETY: the position lies within the stages (1), which are one allocation (0).
        unsafe { self.base.add(position as usize) }
    }

    #[inline(always)]
    fn after(position: u32) -> u32 {
        let next = position + K::STRIDE as u32;
        if next == (K::COUNT * K::STRIDE) as u32 { 0 } else { next }
    }
}
