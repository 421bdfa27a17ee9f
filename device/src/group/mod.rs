//! Groups: the threads that run a pipeline together, and how they share its work at each scope.

pub(crate) mod block;
mod collective;
pub(crate) mod instant;
pub(crate) mod meeting;
pub(crate) mod warp;

use core::convert::Infallible;

use crate::isa::{self, WARP};
use crate::marker::Brand;
use crate::scope::{BlockScope, Scope, ThreadScope, WarpScope};

/// The threads that take a pipeline's steps together. Sealed: [`InBlock`], [`InWarp`] and
/// [`InThread`].
pub trait Group: sealed::Sealed {
    /// How many threads share a tile.
    const THREADS: usize;
}

/// All threads of the block that `'b` is the brand of, which has `THREADS`: a pipeline of
/// block-level code.
pub struct InBlock<'b, const THREADS: usize> {
    _brand: Brand<'b>,
    _none: Infallible,
}
/// One warp of a block of `THREADS`: a pipeline of warp-level code.
pub enum InWarp<const THREADS: usize> {}
/// One thread of a block of `THREADS`: a pipeline inside a per-thread closure.
pub enum InThread<const THREADS: usize> {}

impl<const THREADS: usize> Group for InBlock<'_, THREADS> {
    const THREADS: usize = THREADS;
}
impl<const THREADS: usize> Group for InWarp<THREADS> {
    const THREADS: usize = WARP;
}
impl<const THREADS: usize> Group for InThread<THREADS> {
    const THREADS: usize = 1;
}

/// Says that a pipeline belongs to the whole block.
#[diagnostic::on_unimplemented(
    message = "this step is the block's: a pipeline of one warp or one thread can't take it",
    label = "a step of the whole block",
    note = "for `finish`: the memory goes back to the block when the scope function (`shared.warps(..)`, `shared.threads(..)`) \
            returns; for `publish`: nobody else reads these tiles, and their own reader may read all of them at once"
)]
pub trait WholeBlock {}
impl<const THREADS: usize> WholeBlock for InBlock<'_, THREADS> {}

/// A `Ready` tile may be read as a whole.
pub enum WholeTile {}
/// A `Ready` tile may be read in part: what the thread's scope copied.
pub enum PartOfTile {}

/// Says that a reader may read the whole tile.
pub trait Whole {}
impl Whole for WholeTile {}

/// Says that a reader may read a part of the tile, at no position.
#[diagnostic::on_unimplemented(
    message = "this stage holds no single tile to index: it holds several, or one that may be missing",
    label = "this doesn't say which tile, or whether there is one",
    note = "of several tiles take one first, `tiles.tiles().0[i]`; of an `Optional` tile ask first, `if let Some(tile) = tile.get()`"
)]
pub trait Part {}
impl Part for PartOfTile {}

/// How a group shares out a tile at a scope: in [`PARTS`](Deal::PARTS) parts of equal size, each
/// copied by a team.
pub trait Deal<S: Scope>: Group {
    /// Parts of a tile, each of which its team copies.
    const PARTS: usize;
    /// Threads of a team.
    const TEAM: usize;

    /// Calls `copy(part, member)` in every thread: the part that its team copies, and its rank in
    /// the team.
    ///
    /// # Safety
    ///
    /// 0. The calling thread is one of the group, which has as many threads as its type says.
    ///    (Others of the group may leave the call out: a driver's producers that have no part of a
    ///    tile.)
    /// 1. What `copy` does with the numbers stays in the calling thread: it takes no collective
    ///    step, and nothing that depends on them leaves it.
    unsafe fn deal(copy: impl Fn(usize, usize));
}

/// How a group that reads what it copied meets at a scope.
pub trait Meet<S: Scope>: Deal<S> {
    /// What a thread may read after `wait`: [`WholeTile`] or [`PartOfTile`].
    type Reach;
    /// Whether [`synchronise`](Meet::synchronise) costs next to nothing.
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

impl<const THREADS: usize> Deal<BlockScope> for InBlock<'_, THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = THREADS;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(0, rank)) };
    }
}

impl<const THREADS: usize> Meet<BlockScope> for InBlock<'_, THREADS> {
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

impl<const THREADS: usize> Deal<WarpScope> for InBlock<'_, THREADS> {
    const PARTS: usize = warps::<THREADS>();
    const TEAM: usize = WARP;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(rank / WARP, rank % WARP)) };
    }
}

impl<const THREADS: usize> Meet<WarpScope> for InBlock<'_, THREADS> {
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

impl<const THREADS: usize> Deal<ThreadScope> for InBlock<'_, THREADS> {
    const PARTS: usize = THREADS;
    const TEAM: usize = 1;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the block has THREADS threads (0); an entry point has one dimension.
        unsafe { isa::for_each_thread(THREADS, |rank| copy(rank, 0)) };
    }
}

impl<const THREADS: usize> Meet<ThreadScope> for InBlock<'_, THREADS> {
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

impl<const THREADS: usize> Deal<WarpScope> for InWarp<THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = WARP;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        isa::for_each_lane(|lane| copy(0, lane));
    }
}

impl<const THREADS: usize> Meet<WarpScope> for InWarp<THREADS> {
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

impl<const THREADS: usize> Deal<ThreadScope> for InThread<THREADS> {
    const PARTS: usize = 1;
    const TEAM: usize = 1;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        copy(0, 0);
    }
}

impl<const THREADS: usize> Meet<ThreadScope> for InThread<THREADS> {
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

/// The warps of a block.
pub(crate) const fn warps<const THREADS: usize>() -> usize {
    assert!(THREADS.is_multiple_of(WARP), "warps need a block of a multiple of 32 threads");
    THREADS / WARP
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<const THREADS: usize> Sealed for super::InBlock<'_, THREADS> {}
    impl<const THREADS: usize> Sealed for super::InWarp<THREADS> {}
    impl<const THREADS: usize> Sealed for super::InThread<THREADS> {}
}
