//! The output stages of a ring.

use crate::isa::PendingGroups;

/// Of the stores that were committed, all but the youngest `COUNT - 1` were read: of the ring's
/// stages the one that is filled next is free then.
pub(super) enum ButForThisOne<const COUNT: usize> {}

impl<const COUNT: usize> PendingGroups for ButForThisOne<COUNT> {
    const GROUPS: usize = COUNT.saturating_sub(1);
}

/// Of the stores that were committed, all but the youngest `COUNT - 2` were read: of the ring's
/// stages the one that is filled now and the next one are free then.
pub(super) enum ButForTheNext<const COUNT: usize> {}

impl<const COUNT: usize> PendingGroups for ButForTheNext<COUNT> {
    const GROUPS: usize = COUNT.saturating_sub(2);
}

/// The output stages of a ring, and which of them is filled next.
///
/// # Invariants
///
/// 0. `COUNT` stages, `stride` bytes apart from `base` on, in shared memory `offset` bytes into the
///    block's, aligned for their tiles, belong to this ring. Only the threads of its group access
///    them, and the copy engine reads them.
/// 1. `next` is a multiple of the stride below `COUNT` of them. Stages are stored in ring order, by
///    the group's first thread, in a bulk group each; or, if the view is stored in slices, the
///    slice of each warpgroup by that one's first thread.
/// 2. With more than `Meeting::LATE` stages, the engine has read the one at `next`, as all threads
///    of the group know by a barrier since; of a slice, all threads of its warpgroup, which alone
///    access it.
pub(super) struct Slots<const COUNT: usize> {
    base: *mut u8,
    offset: usize,
    next: u32,
    /// What the next store's tile must not lie below to be none that was stored before.
    fresh: usize,
    /// Of a view that is stored in slices, perhaps the slice of the calling thread's warpgroup.
    slice: Option<u32>,
}

impl<const COUNT: usize> Slots<COUNT> {
    /// The stages from `base` on.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds, no copy into the stages or from them is in flight, and nobody reads them.
    #[inline(always)]
    pub(super) unsafe fn new(base: *mut u8, offset: usize) -> Self {
        Slots { base, offset, next: 0, fresh: 0, slice: None }
    }

    /// The same stages, of which the calling thread's warpgroup stores this slice.
    #[inline(always)]
    pub(super) fn in_slice(self, slice: u32) -> Self {
        Slots { slice: Some(slice), ..self }
    }

    /// The slice that the calling thread's warpgroup stores, if it is known.
    #[inline(always)]
    pub(super) fn slice(&self) -> Option<u32> {
        self.slice
    }

    /// How far into the block's shared memory the stages begin, in bytes.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The stage that is filled next.
    #[inline(always)]
    pub(super) fn stage(&self) -> *mut u8 {
        self.base.wrapping_add(self.next as usize)
    }

    /// Goes on to the next stage, in numbers of 32 bits if `narrow`, which the assembler keeps in a
    /// uniform register.
    #[inline(always)]
    pub(super) fn advance(&mut self, stride: usize, narrow: bool) {
        if narrow {
            let next = self.next + stride as u32;
            self.next = if next == (COUNT * stride) as u32 { 0 } else { next };
            return;
        }
        let next = self.next as usize + stride;
        self.next = if next == COUNT * stride { 0 } else { next as u32 };
    }

    /// Notes that the tile `index` is stored next; returns whether it, or a later one, was stored
    /// before: the engine does not order two stores.
    #[inline(always)]
    pub(super) fn again(&mut self, index: usize) -> bool {
        let again = index < self.fresh;
        self.fresh = if again { self.fresh } else { index + 1 };
        again
    }
}
