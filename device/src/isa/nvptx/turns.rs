//! Turns of a role's warpgroups.

use super::mbarrier::{Mbarrier, mbarrier_arrive_warps, mbarrier_at, mbarrier_init, mbarrier_wait};
use super::product::warpgroup_of;
use super::threads::for_first_member;
use crate::isa::product::WARPGROUP;
use crate::isa::{Members, WARP};

/// An mbarrier for each warpgroup of a role, 8 bytes each: a phase ends when the warpgroup before
/// it has passed its turn on.
pub(crate) struct Turns {
    /// The calling thread's warpgroup's own.
    own: Mbarrier,
    /// The next warpgroup's.
    next: Mbarrier,
    /// The parity of the phase that ends before this warpgroup's next turn.
    parity: u32,
}

impl Turns {
    /// Makes the barriers. Waits come behind a barrier of the role.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn new(offset: usize, members: Members) -> Self {
        let (first, groups) = (mbarrier_at(offset), (members.count / WARPGROUP) as u32);
        for_first_member(members, || {
            for group in 0..groups {
                // SAFETY: the memory is for these barriers, and nobody uses it yet; one thread of
                // the role runs this.
                unsafe { mbarrier_init(first + 8 * group, (WARPGROUP / WARP) as u32) };
            }
        });
        // SAFETY: the caller's promise.
        let group = unsafe { warpgroup_of(members) };
        let next = if group + 1 == groups { 0 } else { group + 1 };
        // Nobody passes the first turn to the first warpgroup: it waits for the phase before the
        // first one, which counts as complete.
        Turns { own: first + 8 * group, next: first + 8 * next, parity: u32::from(group == 0) }
    }

    /// `mbarrier.try_wait.parity` until it succeeds: waits for the warpgroup's turn.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn wait(&self) {
        // SAFETY: the barrier was made, and a parity is 0 or 1.
        unsafe { mbarrier_wait(self.own, self.parity) };
    }

    /// `bar.warp.sync`, then `mbarrier.arrive` of each warp: passes the turn on.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn pass(&mut self, members: Members) {
        // SAFETY: the barrier was made, and counts an arrival of each warp of this warpgroup.
        unsafe { mbarrier_arrive_warps(self.next, members) };
        self.parity ^= 1;
    }
}
