//! Output views that a role writes.

use super::channel::Channel;
use super::end::Ready;
use super::group::RoleGroup;
use super::map::{Role, WholeWarps, sealed as map};
use crate::element::Element;
use crate::engine::{Completion, CompletionOf};
use crate::group::block::Thread;
use crate::isa;
use crate::marker::Uniform;
use crate::memory::Shared;
use crate::output::arrangement::Arrangement;
use crate::output::destination::sealed as destination;
use crate::output::rows::BlockRowsMut;
use crate::output::tile::{OutputTile, TileMut};
use crate::output::tiles::{BlockTilesMut, TileViewMut};
use crate::store::group::{StoringGroup, sealed};
use crate::store::{Dealt, Draft, OutputRing, Outputs, Stored, StoredTile};
use crate::view::geometry::{Geometry, Rows};
use crate::view::order::{Order, Stepped, WholeRows};

impl<S: OutputTile, G: Geometry, A: Arrangement, O: Stepped> TileViewMut<'_, S, G, A, O> {
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
    ) -> BlockTilesMut<'_, 'r, S, SIZE, G, A, O> {
        let _ = group;
        self.for_group()
    }
}

impl<'k, S: OutputTile, A: Arrangement> TileViewMut<'k, S, Rows, A, WholeRows> {
    /// Returns the rows of tiles of this block, as [`for_block`](Self::for_block) does, to be
    /// written by one role's threads.
    ///
    /// # Panics
    ///
    /// As `for_block`.
    #[inline(always)]
    #[track_caller]
    pub fn for_role<'r, R: Role, const SIZE: usize>(
        &mut self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> BlockRowsMut<'_, 'k, 'r, S, SIZE, A> {
        let _ = group;
        self.rows_for_group()
    }
}

/// What a driver's second role `R`, of `SIZE` threads, writes its results to: `&mut out` of an
/// output view, or memory of [`Outputs`] and what they are stored to, by value, as a pair. Sealed.
#[diagnostic::on_unimplemented(
    message = "a driver's second role can't write to `{Self}`",
    label = "not an output",
    note = "pass `&mut out` of an output view, or `(outputs, out)`: memory of `Outputs` and a `TensorMut` or a `BulkTilesMut`, by value; those \
            want a role of whole warps, `WarpRoles`"
)]
pub trait RoleDestination<R: Role, const SIZE: usize>: to::RoleDestination<R, SIZE> {}

pub(super) mod to {
    use super::Order;
    use super::destination::Destination;
    use super::{Role, RoleGroup};

    #[diagnostic::on_unimplemented(
        message = "a driver's second role can't write to `{Self}`",
        label = "not an output",
        note = "pass `&mut out` of an output view, or `(outputs, out)`: memory of `Outputs` and a `TensorMut` or a `BulkTilesMut`, by value; \
                those want a role of whole warps, `WarpRoles`"
    )]
    pub trait RoleDestination<R: Role, const SIZE: usize> {
        /// The block's tiles of it, for the role.
        type Results<'r>: Destination;
        /// The order of the tiles.
        type Order: Order;
        /// One of them. (The compiler infers a closure's type from this one, and not from the
        /// results' own type of tiles.)
        type Tile<'v, 'r>;

        /// Those tiles. All threads of the role make this call.
        fn results<'r>(self, group: &RoleGroup<'r, R, SIZE>) -> Self::Results<'r>;

        /// As `Destination::tile`.
        ///
        /// # Safety
        ///
        /// As for `Destination::tile`.
        unsafe fn tile<'v, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'v, 'r>;

        /// As `Destination::whole`.
        ///
        /// # Safety
        ///
        /// As for `Destination::whole`.
        unsafe fn whole<'v, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'v, 'r>;
    }
}

impl<S: OutputTile, G: Geometry, A: Arrangement, O: Stepped, R: Role, const SIZE: usize> RoleDestination<R, SIZE>
    for &mut TileViewMut<'_, S, G, A, O>
{
}

impl<'v, S: OutputTile, G: Geometry, A: Arrangement, O: Stepped, R: Role, const SIZE: usize>
    to::RoleDestination<R, SIZE> for &'v mut TileViewMut<'_, S, G, A, O>
{
    type Results<'r> = BlockTilesMut<'v, 'r, S, SIZE, G, A, O>;
    type Order = O;
    type Tile<'t, 'r> = TileMut<'t, 'r, S, SIZE, A>;

    #[inline(always)]
    #[track_caller]
    fn results<'r>(self, group: &RoleGroup<'r, R, SIZE>) -> Self::Results<'r> {
        self.for_role(group)
    }

    #[inline(always)]
    unsafe fn tile<'t, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'t, 'r> {
        // SAFETY: the caller's promises.
        unsafe { destination::Destination::tile(results, index) }
    }

    #[inline(always)]
    unsafe fn whole<'t, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'t, 'r> {
        // SAFETY: the caller's promises.
        unsafe { destination::Destination::whole(results, index) }
    }
}

impl<V: Dealt, P, R: WholeWarps, const COUNT: usize, const SIZE: usize> RoleDestination<R, SIZE>
    for (Shared<'_, Outputs<V::Tile, COUNT>, P>, V)
{
}

impl<'s, V: Dealt, P, R: WholeWarps, const COUNT: usize, const SIZE: usize> to::RoleDestination<R, SIZE>
    for (Shared<'s, Outputs<V::Tile, COUNT>, P>, V)
{
    type Results<'r> = OutputRing<'s, V, COUNT, P, RoleGroup<'r, R, SIZE>>;
    type Order = V::Order;
    type Tile<'t, 'r> = Draft<'t, V, COUNT, RoleGroup<'r, R, SIZE>>;

    #[inline(always)]
    #[track_caller]
    fn results<'r>(self, group: &RoleGroup<'r, R, SIZE>) -> Self::Results<'r> {
        let (memory, view) = self;
        memory.outputs(group, view)
    }

    #[inline(always)]
    unsafe fn tile<'t, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'t, 'r> {
        // SAFETY: the caller's promises.
        unsafe { destination::Destination::tile(results, index) }
    }

    #[inline(always)]
    unsafe fn whole<'t, 'r>(results: &mut Self::Results<'r>, index: usize) -> Self::Tile<'t, 'r> {
        // SAFETY: the caller's promises.
        unsafe { destination::Destination::whole(results, index) }
    }
}

impl<R: WholeWarps, const SIZE: usize> StoringGroup for RoleGroup<'_, R, SIZE> {}

impl<R: WholeWarps, const SIZE: usize> sealed::StoringGroup for RoleGroup<'_, R, SIZE> {
    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(<R as map::Role>::MEMBERS, issue);
    }

    #[inline(always)]
    unsafe fn first_of_warpgroups(issue: impl Fn()) {
        // SAFETY: the caller's promise.
        unsafe { isa::for_first_of_warpgroups(<R as map::Role>::MEMBERS, issue) };
    }

    #[inline(always)]
    unsafe fn warpgroup() -> u32 {
        // SAFETY: the caller's promise, of this role.
        unsafe { isa::warpgroup_of(<R as map::Role>::MEMBERS) }
    }

    #[inline(always)]
    unsafe fn first_of_warpgroups_from<const HERE: bool>(
        number: Option<u32>,
        from: *const u8,
        issue: impl Fn(usize, *const u8),
    ) {
        // SAFETY: the caller's promises, of this role.
        unsafe { isa::for_first_of_warpgroups_from::<HERE>(<R as map::Role>::MEMBERS, number, from, issue) };
    }

    #[inline(always)]
    unsafe fn meet_in_warpgroups() {
        // SAFETY: the caller's promise.
        unsafe { isa::warpgroup_barrier(<R as map::Role>::MEMBERS) };
    }
}

impl<'r, V: Stored, R: WholeWarps, const COUNT: usize, const SIZE: usize> Draft<'_, V, COUNT, RoleGroup<'r, R, SIZE>> {
    /// As [`fill_own`](Draft::fill_own) of a block's draft, by the threads of a role.
    #[inline(always)]
    pub fn fill_own<T: Element, const N: usize>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        values: impl for<'t> Fn(Thread<'t, 'r, SIZE>) -> [T; N] + Uniform,
    ) where
        V::Tile: StoredTile<Element = T>,
    {
        // SAFETY: `fill_by_rank` passes the calling thread's rank in the role, whose brand is `'r`.
        self.fill_by_rank(group, |rank| values(unsafe { Thread::new(rank) }));
    }

    /// Writes the tile: a loaded one as it is, which the engine reads where it has landed. The call
    /// returns in the role's first thread when that is done, so that the tile may be released.
    ///
    /// PTX in that thread: `cp.async.bulk.tensor` or `cp.async.bulk`, `cp.async.bulk.commit_group`,
    /// `cp.async.bulk.wait_group.read 0`.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn store<K: Channel<Contents = V::Tile>>(self, tile: &Ready<'r, K>) {
        const {
            assert!(CompletionOf::<K::Engine>::BY_BYTES, "the copy engine stores what it has loaded");
            assert!(
                !R::APART,
                "one thread of the role stores a tile that was loaded, and an `Apart` role's warpgroups go different ways"
            );
        };
        // SAFETY: the engine wrote the tile, and each thread of the role has waited for it at the
        // stage's mbarrier. It is filled again after all threads of the role have arrived at
        // another one, the first thread when it has released the tile, which follows.
        unsafe { self.store_at(tile.memory()) };
    }
}
