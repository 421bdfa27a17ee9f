//! Turns in which the warpgroups of a role do something.

use super::mbarrier::{Mbarrier, mbarrier_arrive_warps, mbarrier_at, mbarrier_init, mbarrier_try, mbarrier_wait};
use super::product::warpgroup_of;
use crate::isa::product::WARPGROUP;
use crate::isa::{Members, WARP};

/// How often a warpgroup whose turn may never come tries to wait for it (docs/decisions/113).
const TRIES: u32 = 1 << 12;

/// The turns of the calling thread's warpgroup: an mbarrier in shared memory for each warpgroup of
/// the role, at which the one before it arrives.
pub(crate) struct Turns {
    /// The calling thread's warpgroup's own.
    own: Mbarrier,
    /// The next warpgroup's.
    next: Mbarrier,
    /// The parity of the phase that ends before this warpgroup's next turn.
    parity: u32,
}

impl Turns {
    /// Makes the barriers of so many warpgroups.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn init(offset: usize, groups: usize) {
        for group in 0..groups as u32 {
            // SAFETY: the caller's promise: the memory is for these barriers, and nobody uses it
            // yet; one thread of the block runs this.
            unsafe { mbarrier_init(mbarrier_at(offset) + 8 * group, (WARPGROUP / WARP) as u32) };
        }
    }

    /// Those of the calling thread's warpgroup, of barriers that were made.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of(offset: usize, members: Members) -> Self {
        let (first, groups) = (mbarrier_at(offset), (members.count / WARPGROUP) as u32);
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

    /// The same, but not for ever: after `TRIES` tries the turn is taken as come.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn wait_a_while(&self) {
        for _ in 0..TRIES {
            // SAFETY: as for `wait`.
            if unsafe { mbarrier_try(self.own, self.parity) } {
                return;
            }
        }
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
