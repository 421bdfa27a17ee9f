//! The ring of stages in shared memory: where the next stage to fill and the next to read lie.

use core::marker::PhantomData;

use super::presence::Presence;
use super::{PresenceOf, StageSet};
use crate::engine::{Completion, CompletionOf, LandingOf};
use crate::isa;

/// The stages' memory and two positions in it, and the operations that a step is made of.
///
/// Stages are filled and read in ring buffer order. So the stage at `tail` is the oldest in flight,
/// and the one at `head` was released longest ago.
///
/// # Invariants
///
/// 0. `K::COUNT` stages, `K::STRIDE` bytes apart from `base` on, in shared memory and aligned as
///    their contents need, belong to this ring.
/// 1. `head` and `tail` are multiples of `UNIT` below `K::COUNT * UNIT`. The stage at a position
///    lies `K::STRIDE / UNIT` times as many bytes after `base`.
/// 2. Where copies complete by bytes, the mbarrier of stage `i` lies `barriers + 8 * i` bytes into
///    the block's shared memory. Each phase of it belongs to one fill of the stage, in order; the
///    fill that is read next at `tail` is of the phase with parity `tail_lap`, and `head_lap` is
///    that of the next one at `head`.
/// 3. `frame` is null, or valid for writes for as long as the ring exists.
pub(crate) struct Ring<K: StageSet> {
    base: *mut u8,
    barriers: usize,
    frame: *mut Fills,
    head: u32,
    head_lap: u32,
    tail: u32,
    tail_lap: u32,
    present: <PresenceOf<K> as Presence>::Ring,
    stages: PhantomData<K>,
}

/// How far a ring was filled: the next stage to fill, and the parity of its phase.
#[derive(Clone, Copy)]
pub(crate) struct Fills {
    next: u32,
    lap: u32,
}

impl Fills {
    /// Of a new ring.
    pub(crate) const NONE: Fills = Fills { next: 0, lap: 0 };

    /// The parity of the phase of stage `index` to which its last fill belongs. (Of a stage that
    /// was never filled it is that of the phase before the first, which counts as complete.)
    #[inline(always)]
    pub(crate) fn last_lap(self, index: usize) -> u32 {
        if index < self.next as usize { self.lap } else { self.lap ^ 1 }
    }
}

/// The place of a stage in its ring.
#[derive(Clone, Copy)]
pub(crate) struct Slot(u32);

impl<K: StageSet> Ring<K> {
    /// What positions count in: bytes, which need no multiplication; or stages where each has an
    /// mbarrier, which would need a division.
    const UNIT: u32 = {
        assert!(K::STRIDE.is_multiple_of(16));
        if CompletionOf::<K::Engine>::BY_BYTES { 1 } else { K::STRIDE as u32 }
    };

    /// Makes the ring of the stages at `base`, whose fills are noted in `frame` if it is not null.
    ///
    /// # Safety
    ///
    /// The invariants 0, 2 and 3 hold; no mbarrier has completed a phase.
    #[inline(always)]
    pub(crate) unsafe fn new(base: *mut u8, barriers: usize, frame: *mut Fills) -> Self {
        Ring {
            base,
            barriers,
            frame,
            head: 0,
            head_lap: 0,
            tail: 0,
            tail_lap: 0,
            present: PresenceOf::<K>::EMPTY,
            stages: PhantomData,
        }
    }

    /// Where the stages' mbarriers lie.
    pub(crate) fn barriers(&self) -> usize {
        self.barriers
    }

    /// The first byte of the first stage.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Returns the next stage to fill, where copies into it complete, and its place in the ring;
    /// and advances the head. Where copies complete by bytes an arrival at the stage's mbarrier
    /// follows.
    #[inline(always)]
    pub(crate) fn next_to_fill(&mut self) -> (*mut u8, LandingOf<K::Engine>, Slot) {
        let (stage, landing, slot) = (self.stage(self.head), self.landing(self.head), Slot(self.head));
        self.head = Self::after(self.head);
        if CompletionOf::<K::Engine>::BY_BYTES && self.head == 0 {
            self.head_lap ^= 1;
        }
        (stage, landing, slot)
    }

    /// Notes for the owner of the ring's frame that the stages before the head were filled.
    #[inline(always)]
    pub(crate) fn note_fills(&self) {
        if CompletionOf::<K::Engine>::BY_BYTES && !self.frame.is_null() {
            // SAFETY: it is valid for writes (3).
            unsafe { self.frame.write(Fills { next: self.head / Self::UNIT, lap: self.head_lap }) };
        }
    }

    /// Where the copies into the next stage to read complete, and the parity of their phase.
    #[inline(always)]
    pub(crate) fn next_to_land(&self) -> (impl FnOnce() -> LandingOf<K::Engine>, u32) {
        (|| self.landing(self.tail), self.tail_lap)
    }

    /// Remembers how a stage was filled.
    #[inline(always)]
    pub(crate) fn filled(&mut self, slot: Slot, presence: PresenceOf<K>) {
        presence.mark(&mut self.present, slot.0 / Self::UNIT);
    }

    /// Returns the next stage to read and what was noted when it was filled, and advances the tail.
    #[inline(always)]
    pub(crate) fn next_to_read(&mut self) -> (*const u8, PresenceOf<K>) {
        if !CompletionOf::<K::Engine>::BY_BYTES {
            // With this the compiler for the GPU knows how a tile is aligned, and loads elements in
            // a row at once.
            // SAFETY: the tail is a multiple of the stages' stride (1), and that is one of 16.
            unsafe { core::hint::assert_unchecked(self.tail.is_multiple_of(16)) };
        }
        let (stage, index) = (self.stage(self.tail), self.tail / Self::UNIT);
        self.tail = Self::after(self.tail);
        if CompletionOf::<K::Engine>::BY_BYTES && self.tail == 0 {
            self.tail_lap ^= 1;
        }
        (stage.cast_const(), PresenceOf::<K>::of(&self.present, index))
    }

    /// Makes the next stage to fill the next to read: for a ring that holds nothing. (Where copies
    /// complete by bytes each fill is read, so it is that already.)
    #[inline(always)]
    pub(crate) fn restart(&mut self) {
        if !CompletionOf::<K::Engine>::BY_BYTES {
            self.tail = self.head;
        }
    }

    #[inline(always)]
    fn landing(&self, position: u32) -> LandingOf<K::Engine> {
        CompletionOf::<K::Engine>::landing(|| isa::mbarrier_at(self.barriers + 8 * (position / Self::UNIT) as usize))
    }

    #[inline(always)]
    fn stage(&self, position: u32) -> *mut u8 {
        // SAFETY: the position lies within the stages (1), which are one allocation (0).
        unsafe { self.base.add(position as usize * (K::STRIDE / Self::UNIT as usize)) }
    }

    #[inline(always)]
    fn after(position: u32) -> u32 {
        let next = position + Self::UNIT;
        if next == K::COUNT as u32 * Self::UNIT { 0 } else { next }
    }
}
