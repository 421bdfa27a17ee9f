//! Groups whose threads fill shared memory together.

use super::block::{Block, Thread};
use crate::isa;

/// The threads that fill shared memory together and then read it: a [`Block`], or a
/// [`RoleGroup`](crate::role::RoleGroup) of whole warps. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't fill shared memory",
    label = "not a block, or a role of whole warps",
    note = "all threads that fill a tile meet before one of them reads it, and roles that share a warp have no barrier: take `WarpRoles`, or \
            fill it in the block"
)]
pub trait FillingGroup: sealed::FillingGroup {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't fill shared memory",
        label = "not a block, or a role of whole warps",
        note = "what is filled is read after all threads have met: take a block, or a role of `WarpRoles`"
    )]
    pub trait FillingGroup {
        /// The token of one of its threads, for one call of a closure.
        type Thread<'t>;

        /// How many threads it has.
        const THREADS: usize;

        /// Runs `run` in each thread, with its rank: below `THREADS`, and no other thread's.
        ///
        /// # Safety
        ///
        /// The calling thread is one of the group.
        unsafe fn each(run: impl Fn(usize));

        /// Waits for all threads of the group; what they wrote to shared memory before is visible
        /// to each, and their reads before are done.
        ///
        /// # Safety
        ///
        /// All threads of the group make this call, in code at the group's own level.
        unsafe fn meet();

        /// The token of the thread of rank `rank`.
        ///
        /// # Safety
        ///
        /// `rank` is the calling thread's in the group, and the token lives as long as one call of
        /// a closure.
        unsafe fn thread<'t>(rank: usize) -> Self::Thread<'t>;
    }
}

impl<const THREADS: usize> FillingGroup for Block<'_, THREADS> {}

impl<'b, const THREADS: usize> sealed::FillingGroup for Block<'b, THREADS> {
    type Thread<'t> = Thread<'t, 'b, THREADS>;

    const THREADS: usize = THREADS;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        // SAFETY: a block of this type has THREADS threads in one dimension (`Block`, 0).
        unsafe { isa::for_each_thread(THREADS, run) };
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise: block-level code is converged (R2).
        unsafe { isa::barrier() };
    }

    #[inline(always)]
    unsafe fn thread<'t>(rank: usize) -> Thread<'t, 'b, THREADS> {
        // SAFETY: the caller's promise; `'b` is the block's brand (`Block`, 2).
        unsafe { Thread::new(rank) }
    }
}
