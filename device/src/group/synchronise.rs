//! How the threads of a group wait for one another, at each scope.

use super::{Deal, InBlock, InThread, InWarp, PartOfTile, WholeTile};
use crate::isa;
use crate::scope::{BlockScope, Scope, ThreadScope, WarpScope};

/// How the threads of a group that read what they copied wait for one another, at a scope.
pub trait Synchronise<S: Scope>: Deal<S> {
    /// What a thread may read after `wait`: [`WholeTile`] or [`PartOfTile`].
    type Reach;
    /// Whether [`synchronise`](Synchronise::synchronise) costs next to nothing.
    const CHEAP: bool;

    /// Waits for the scope's threads: what they waited for is visible to all of them, and their
    /// reads before are done.
    ///
    /// # Safety
    ///
    /// All threads of the scope make this call; for a block in converged code.
    unsafe fn synchronise();

    /// Tells the CPU backend's model which memory threads may go on reading until `launder`.
    ///
    /// # Safety
    ///
    /// The group has just released the stage of `bytes` bytes from `first` on, in the block's
    /// shared memory: until the group's next `launder` nobody writes it, and after it nobody reads
    /// what it holds now.
    unsafe fn released(first: *const u8, bytes: usize);

    /// Waits for all threads that may have read a released tile.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call; for a block in converged code.
    unsafe fn launder();
}

impl<const THREADS: usize> Synchronise<BlockScope> for InBlock<'_, THREADS> {
    type Reach = WholeTile;
    const CHEAP: bool = false;

    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: the caller's promise, with the block as the scope.
        unsafe { isa::barrier() };
    }

    #[inline(always)]
    unsafe fn released(first: *const u8, bytes: usize) {
        // SAFETY: the caller's promise; these readers' barrier is what `launder` waits at.
        unsafe { isa::released(first, bytes, isa::Readers::Block) };
    }

    #[inline(always)]
    unsafe fn launder() {
        // SAFETY: the caller's promise, with the block as the group.
        unsafe { isa::barrier() };
    }
}

impl<const THREADS: usize> Synchronise<WarpScope> for InBlock<'_, THREADS> {
    type Reach = PartOfTile;
    const CHEAP: bool = true;

    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: every warp of the block is whole (`warps`), and all its threads make the call.
        unsafe { isa::warp_barrier() };
    }

    #[inline(always)]
    unsafe fn released(first: *const u8, bytes: usize) {
        // SAFETY: the caller's promise; these readers' barrier is what `launder` waits at.
        unsafe { isa::released(first, bytes, isa::Readers::Warp) };
    }

    #[inline(always)]
    unsafe fn launder() {
        // SAFETY: every warp of the block is whole (`warps`), and all its threads make the call.
        // That is enough: only a warp's own threads read its part of a tile.
        unsafe { isa::warp_barrier() };
    }
}

impl<const THREADS: usize> Synchronise<ThreadScope> for InBlock<'_, THREADS> {
    type Reach = PartOfTile;
    const CHEAP: bool = true;

    #[inline(always)]
    unsafe fn synchronise() {
        isa::own_copies_landed();
    }

    #[inline(always)]
    unsafe fn released(_: *const u8, _: usize) {}

    #[inline(always)]
    unsafe fn launder() {
        // A dirty stage was published, so any thread of the block may be reading it.
        // SAFETY: the caller's promise.
        unsafe { isa::barrier() };
    }
}

impl<const THREADS: usize> Synchronise<WarpScope> for InWarp<THREADS> {
    type Reach = WholeTile;
    const CHEAP: bool = true;

    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: every warp of the block is whole, and all its threads make the call.
        unsafe { isa::warp_barrier() };
    }

    #[inline(always)]
    unsafe fn released(first: *const u8, bytes: usize) {
        // SAFETY: the caller's promise; these readers' barrier is what `launder` waits at.
        unsafe { isa::released(first, bytes, isa::Readers::Warp) };
    }

    #[inline(always)]
    unsafe fn launder() {
        // SAFETY: every warp of the block is whole, and all threads of this one make the call.
        unsafe { isa::warp_barrier() };
    }
}

impl<const THREADS: usize> Synchronise<ThreadScope> for InThread<THREADS> {
    type Reach = WholeTile;
    const CHEAP: bool = true;

    #[inline(always)]
    unsafe fn synchronise() {
        isa::own_copies_landed();
    }

    #[inline(always)]
    unsafe fn released(_: *const u8, _: usize) {}

    #[inline(always)]
    unsafe fn launder() {}
}
