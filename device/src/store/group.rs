//! The threads that fill output stages.

use crate::group::block::Block;
use crate::group::{Deal, InBlock};
use crate::isa;
use crate::scope::BlockScope;

/// The threads that fill the output stages of a ring together, and whose first thread has them
/// stored: a [`Block`], or a [`RoleGroup`](crate::role::RoleGroup) of whole warps. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't fill output stages",
    label = "not a block, or a role of whole warps",
    note = "all threads that fill a stage meet before it is stored, and roles that share a warp have no barrier: take `WarpRoles`, or fill \
            the stages in the block"
)]
pub trait StoringGroup: sealed::StoringGroup {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't fill output stages",
        label = "not a block, or a role of whole warps",
        note = "a ring trusts its group to meet: take a block, or a role of `WarpRoles`"
    )]
    pub trait StoringGroup {
        /// How many threads it has.
        const THREADS: usize;

        /// Runs `run` in each thread, with its rank.
        ///
        /// # Safety
        ///
        /// The calling thread is one of the group.
        unsafe fn each(run: impl Fn(usize));

        /// Runs `issue` in the group's first thread, always the same one.
        ///
        /// # Safety
        ///
        /// As for [`each`](Self::each). `issue` takes no collective step.
        unsafe fn first(issue: impl FnOnce());

        /// Waits for all threads of the group.
        ///
        /// # Safety
        ///
        /// All threads of the group make this call, in code at the group's own level.
        unsafe fn meet();
    }
}

impl<const THREADS: usize> StoringGroup for Block<'_, THREADS> {}

impl<'b, const THREADS: usize> sealed::StoringGroup for Block<'b, THREADS> {
    const THREADS: usize = THREADS;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        // SAFETY: a block of this type has THREADS threads in one dimension (`Block`, 0).
        unsafe { isa::for_each_thread(THREADS, run) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        // SAFETY: the caller's promise; as above.
        unsafe { <InBlock<'b, THREADS> as Deal<BlockScope>>::first(issue) };
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise: block-level code is converged (R2).
        unsafe { isa::barrier() };
    }
}
