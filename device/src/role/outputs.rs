//! Output views that a role writes.

use super::channel::Channel;
use super::end::Ready;
use super::group::RoleGroup;
use super::map::{Role, WholeWarps, sealed as map};
use crate::element::Element;
use crate::engine::{Completion, CompletionOf};
use crate::group::block::Thread;
use crate::group::scratch::CollectiveGroup;
use crate::isa;
use crate::marker::Uniform;
use crate::output::arrangement::Arrangement;
use crate::output::tile::OutputTile;
use crate::output::tiles::{BlockTilesMut, TileViewMut};
use crate::store::group::{StoringGroup, sealed};
use crate::store::{Draft, Stored};
use crate::tensor::{OutputExtents, Swizzle, TensorTile};
use crate::view::geometry::Geometry;

impl<S: OutputTile, G: Geometry, A: Arrangement> TileViewMut<'_, S, G, A> {
    /// Returns the tiles of this block, as [`for_block`](Self::for_block) does, to be written by
    /// one role's threads: thread `r` of the role owns what thread `r` of a block with that number
    /// of threads would own.
    ///
    /// # Panics
    ///
    /// As `for_block`.
    #[inline(always)]
    #[track_caller]
    pub fn for_role<'r, R: Role, const SIZE: usize>(
        &mut self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> BlockTilesMut<'_, 'r, S, SIZE, G, A> {
        let _ = group;
        self.for_group()
    }
}

impl<R: WholeWarps, const SIZE: usize> StoringGroup for RoleGroup<'_, R, SIZE> {}

impl<R: WholeWarps, const SIZE: usize> sealed::StoringGroup for RoleGroup<'_, R, SIZE> {
    const THREADS: usize = SIZE;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        // SAFETY: the caller's promise.
        unsafe { isa::for_each_member(<R as map::Role>::MEMBERS, run) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(<R as map::Role>::MEMBERS, issue);
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise.
        unsafe { <R as CollectiveGroup>::sync() };
    }
}

impl<'r, V, R: WholeWarps, T: Element, X: OutputExtents, W: Swizzle, const COUNT: usize, const SIZE: usize>
    Draft<'_, V, COUNT, RoleGroup<'r, R, SIZE>>
where
    V: Stored<Element = T, Extents = X, Swizzle = W>,
{
    /// As [`fill_own`](Draft::fill_own) of a block's draft, by the threads of a role.
    #[inline(always)]
    pub fn fill_own<const N: usize>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        values: impl for<'t> Fn(Thread<'t, 'r, SIZE>) -> [T; N] + Uniform,
    ) {
        // SAFETY: `fill_by_rank` passes the calling thread's rank in the role, whose brand is `'r`.
        self.fill_by_rank(group, |rank| values(unsafe { Thread::new(rank) }));
    }

    /// Writes the box: a loaded tile as it is, which the engine reads where it has landed. The call
    /// returns in the role's first thread when that is done, so that the tile may be released.
    ///
    /// PTX in that thread: `cp.async.bulk.tensor`, `cp.async.bulk.commit_group`,
    /// `cp.async.bulk.wait_group.read 0`.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn store<K: Channel<Contents = TensorTile<T, X, W>>>(self, tile: &Ready<'r, K>) {
        const { assert!(CompletionOf::<K::Engine>::BY_BYTES, "the copy engine stores what it has loaded") };
        // SAFETY: the engine wrote the tile, and each thread of the role has waited for it at the
        // stage's mbarrier. It is filled again after all threads of the role have arrived at
        // another one, the first thread when it has released the tile, which follows.
        unsafe { self.store_at(tile.memory()) };
    }
}
