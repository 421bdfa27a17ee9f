//! The threads that fill output stages.

use crate::group::block::Block;
use crate::group::filling::FillingGroup;
use crate::group::{Deal, InBlock};
use crate::isa::{self, Members};
use crate::scope::BlockScope;

/// The threads that fill the output stages of a ring together, and whose first thread has them
/// stored: a [`Block`], or a [`RoleGroup`](crate::role::RoleGroup) of whole warps. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't fill output stages",
    label = "not a block, or a role of whole warps",
    note = "all threads that fill a stage meet before it is stored, and roles that share a warp have no barrier: take `WarpRoles`, or fill \
            the stages in the block"
)]
pub trait StoringGroup: FillingGroup + sealed::StoringGroup {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't fill output stages",
        label = "not a block, or a role of whole warps",
        note = "a ring trusts its group to meet: take a block, or a role of `WarpRoles`"
    )]
    pub trait StoringGroup {
        /// Runs `issue` in the group's first thread, always the same one.
        ///
        /// # Safety
        ///
        /// The calling thread is one of the group. `issue` takes no collective step.
        unsafe fn first(issue: impl FnOnce());

        /// Runs `issue` in the first thread of each of the group's warpgroups, always the same one.
        ///
        /// # Safety
        ///
        /// All threads of the group make this call; the group is whole warpgroups of its block.
        /// `issue` takes no collective step.
        unsafe fn first_of_warpgroups(issue: impl Fn());

        /// The number of the calling thread's warpgroup in the group, for
        /// `first_of_warpgroups_from`.
        ///
        /// # Safety
        ///
        /// As for `first_of_warpgroups`.
        unsafe fn warpgroup() -> u32;

        /// As `first_of_warpgroups`, with the warpgroup's number in the group, and with `from`.
        /// `HERE` is as for `isa::for_first_of_warpgroups_from`.
        ///
        /// # Safety
        ///
        /// As for `first_of_warpgroups`. `from` is the block's shared memory, and the same in all
        /// threads; `number`, if there is one, is what `warpgroup` returned.
        unsafe fn first_of_warpgroups_from<const HERE: bool>(
            number: Option<u32>,
            from: *const u8,
            issue: impl Fn(usize, *const u8),
        );

        /// Waits until all threads of the calling thread's warpgroup are here, and orders their
        /// memory accesses.
        ///
        /// # Safety
        ///
        /// All threads of the group make this call; the group is whole warpgroups of its block.
        unsafe fn meet_in_warpgroups();
    }
}

impl<const THREADS: usize> StoringGroup for Block<'_, THREADS> {}

impl<'b, const THREADS: usize> sealed::StoringGroup for Block<'b, THREADS> {
    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        // SAFETY: the caller's promise; a block of this type has THREADS threads in one dimension
        // (`Block`, 0).
        unsafe { <InBlock<'b, THREADS> as Deal<BlockScope>>::first(issue) };
    }

    #[inline(always)]
    unsafe fn first_of_warpgroups(issue: impl Fn()) {
        // SAFETY: the caller's promise; a block of this type has THREADS threads (`Block`, 0).
        unsafe { isa::for_first_of_warpgroups(Members { first: 0, stride: 1, count: THREADS }, issue) };
    }

    #[inline(always)]
    unsafe fn warpgroup() -> u32 {
        // SAFETY: the caller's promise; a block of this type has THREADS threads (`Block`, 0).
        unsafe { isa::warpgroup_of(Members { first: 0, stride: 1, count: THREADS }) }
    }

    #[inline(always)]
    unsafe fn first_of_warpgroups_from<const HERE: bool>(
        number: Option<u32>,
        from: *const u8,
        issue: impl Fn(usize, *const u8),
    ) {
        let members = Members { first: 0, stride: 1, count: THREADS };
        // SAFETY: the caller's promises; a block of this type has THREADS threads (`Block`, 0).
        unsafe { isa::for_first_of_warpgroups_from::<HERE>(members, number, from, issue) };
    }

    #[inline(always)]
    unsafe fn meet_in_warpgroups() {
        // SAFETY: the caller's promise; a block of this type has THREADS threads (`Block`, 0).
        unsafe { isa::warpgroup_barrier(Members { first: 0, stride: 1, count: THREADS }) };
    }
}
