//! What a role's warpgroups tell each other of memory that they write and read in turn.

use super::mbarrier::{Mbarrier, mbarrier_arrive_warps, mbarrier_at, mbarrier_init, mbarrier_wait};
use super::threads::for_first_member;
use crate::isa::{Members, WARP};

/// Mbarriers, 8 bytes each, at which all warps of a role arrive.
#[derive(Clone)]
pub(crate) struct Rooms {
    first: Mbarrier,
}

impl Rooms {
    /// Makes the barriers. Waits come behind a barrier of the role.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn new(offset: usize, count: u32, members: Members) -> Self {
        let first = mbarrier_at(offset);
        for_first_member(members, || {
            for barrier in 0..count {
                // SAFETY: the memory is for these barriers, and nobody uses it yet; one thread of
                // the role runs this.
                unsafe { mbarrier_init(first + 8 * barrier, (members.count / WARP) as u32) };
            }
        });
        Rooms { first }
    }

    /// `mbarrier.try_wait.parity` until it succeeds: waits for all warps' arrivals.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn wait(&self, barrier: u32, parity: u32) {
        // SAFETY: the barrier was made, and a parity is 0 or 1.
        unsafe { mbarrier_wait(self.first + 8 * barrier, parity) };
    }

    /// `bar.warp.sync`, then `mbarrier.arrive` of each warp.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn arrive(&self, barrier: u32, members: Members) {
        // SAFETY: the barrier was made, and counts an arrival of each warp of the role.
        unsafe { mbarrier_arrive_warps(self.first + 8 * barrier, members) };
    }
}
