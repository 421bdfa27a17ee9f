//! How a group shares out a tile among its threads, at each scope.

use super::{Group, InBlock, InThread, InWarp, warps};
use crate::isa::{self, WARP};
use crate::scope::{BlockScope, Scope, ThreadScope, WarpScope};

/// How a group shares out a tile at a scope: it has [`PARTS`](Deal::PARTS) parts of equal size, and
/// a team copies each.
pub trait Deal<S: Scope>: Group {
    /// Parts of a tile. Each has a team that copies it.
    const PARTS: usize;
    /// Threads of a team.
    const TEAM: usize;

    /// Calls `copy(part, member)` in every thread: the part that its team copies, and its rank in
    /// the team.
    ///
    /// # Safety
    ///
    /// 0. The calling thread is one of the group, which has the number of threads that its type
    ///    says. (Others of the group may leave the call out: a driver's producers that have no part
    ///    of a tile.)
    /// 1. What `copy` does with the numbers stays in the calling thread: it takes no collective
    ///    step, and nothing that depends on them leaves it.
    unsafe fn deal(copy: impl Fn(usize, usize));

    /// Whether all threads of the group are one team: one copy can be for all of them.
    const ONE_TEAM: bool;

    /// Runs `issue` in the group's first thread, always the same one.
    ///
    /// # Safety
    ///
    /// As for [`deal`](Self::deal). The first thread is among those that make the call.
    unsafe fn first(issue: impl FnOnce());
}

impl<const THREADS: usize> Deal<BlockScope> for InBlock<'_, THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = THREADS;
    const ONE_TEAM: bool = true;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(0, rank)) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(isa::Members { first: 0, stride: 1, count: THREADS }, issue);
    }
}

impl<const THREADS: usize> Deal<WarpScope> for InBlock<'_, THREADS> {
    const PARTS: usize = warps::<THREADS>();
    const TEAM: usize = WARP;
    const ONE_TEAM: bool = false;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(rank / WARP, rank % WARP)) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(isa::Members { first: 0, stride: 1, count: THREADS }, issue);
    }
}

impl<const THREADS: usize> Deal<ThreadScope> for InBlock<'_, THREADS> {
    const PARTS: usize = THREADS;
    const TEAM: usize = 1;
    const ONE_TEAM: bool = false;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(rank, 0)) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(isa::Members { first: 0, stride: 1, count: THREADS }, issue);
    }
}

impl<const THREADS: usize> Deal<WarpScope> for InWarp<THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = WARP;
    const ONE_TEAM: bool = true;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        isa::for_each_lane(|lane| copy(0, lane));
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_lane(issue);
    }
}

impl<const THREADS: usize> Deal<ThreadScope> for InThread<THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = 1;
    const ONE_TEAM: bool = false;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        copy(0, 0);
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        issue();
    }
}
