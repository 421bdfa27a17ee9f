//! A tile that has landed.

use core::marker::PhantomData;
use core::ops::{Deref, Index};

use super::setup::Setup;
use super::view::{AtScope, Published, View};
use crate::group::block::Thread;
use crate::group::{Group, InBlock, Part, ThreadOf, Whole, WholeBlock, warps};
use crate::isa::WARP;
use crate::marker::NoPosition;
use crate::marker::{Brand, Uniform};
#[cfg(doc)]
use crate::scope::BlockScope;
#[cfg(doc)]
use crate::scope::WarpScope;
use crate::scope::{AtLeastWarp, Scope};
use crate::stage::contents::{AlwaysFilled, OneTile, Optional, check_parts, sealed};
use crate::stage::nth::{HasTile, sealed as nth};
use crate::stage::{LandedStage, PresenceOf};

/// A tile that has landed and may be read until it is released.
///
/// What a thread may read of it follows from the scope:
///
/// - at [`BlockScope`], of a pipeline of a warp's or a thread's own, and once it is published: all
///   of it. A single tile derefs to its type; of several tiles [`tiles`](Self::tiles) returns
///   references, and an [`Optional`] one is read by [`get`](Self::get).
/// - at [`WarpScope`]: [`of_warp`](Self::of_warp); at any scope: [`own`](Self::own), of
///   one of several tiles [`own_of`](Self::own_of).
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, TilesMut, WarpScope, kernel};
///
/// /// Each element less the least of the 32 that its warp has.
/// #[kernel]
/// pub fn above_the_least(
///     block: Block<64>,
///     input: Tiles<i32, 64>,
///     mut out: TilesMut<i32, 64>,
///     shared: Shared<Stages<[i32; 64], 1, CpAsync, WarpScope>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let mut pipe = shared.pipeline(&block).weaken();
///     for i in 0..tiles.len() {
///         let (p, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             // A tile that was waited for at warp scope shows a thread the part of its warp.
///             let least = tile.of_warp(&t).iter().copied().fold(i32::MAX, i32::min);
///             result.set(&t, tile.own(&t)[0] - least);
///         });
///         pipe = p.release(tile); // from here on nobody can read it
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 4 });
/// # let (input, mut out) = (device.upload(&Vec::from_iter(0..192))?, device.zeroed(192)?);
/// # above_the_least::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..192).map(|i| i % 32)));
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. What the stage lets a thread read (`LandedStage`, 0) is what the scope (`V` is [`AtScope`])
///    or the block (`V` is [`Published`]) lets it read.
/// 1. If `present` says that the stage was committed empty, nothing of it may be read.
#[must_use = "the stage stays held: give the tile back with `pipe.release(tile)`"]
pub struct Ready<'s, U: Setup, V = AtScope> {
    stage: LandedStage<U::Contents>,
    present: PresenceOf<U>,
    brand: Brand<'s>,
    view: PhantomData<V>,
}

// SAFETY: (0) the tile is plain data that nobody writes; (1) it has no collective operation:
// `release` takes it by value.
unsafe impl<U: Setup, V> Uniform for Ready<'_, U, V> {}

/// Says that a view shows the whole tile.
#[diagnostic::on_unimplemented(
    message = "at this scope a thread may not read the whole tile",
    label = "other threads' copies may not have landed here",
    note = "read `tile.own(&t)`, `publish` the tile, or make the stages `Stages<.., BlockScope>`"
)]
pub trait ReadsWhole<U: Setup>: View<U> {}
#[diagnostic::do_not_recommend]
impl<U: Setup<Reach: Whole>> ReadsWhole<U> for AtScope {}
impl<U: Setup<Group: WholeBlock>> ReadsWhole<U> for Published {}

impl<U: Setup, V> Ready<'_, U, V> {
    /// Makes the readable tile of the stage at `memory`.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1, and that of [`LandedStage`], hold.
    #[inline(always)]
    pub(super) unsafe fn new(memory: *const u8, present: PresenceOf<U>) -> Self {
        // SAFETY: the caller's promise.
        Ready { stage: unsafe { LandedStage::new(memory) }, present, brand: PhantomData, view: PhantomData }
    }

    /// The stage's first byte.
    #[inline(always)]
    pub(crate) fn memory(&self) -> *const u8 {
        self.stage.memory()
    }

    /// What was remembered when the stage was filled.
    #[inline(always)]
    pub(super) fn present(&self) -> PresenceOf<U> {
        self.present
    }
}

impl<U: Setup, V> Ready<'_, U, V> {
    /// Returns all tiles of the stage: `&T`, or a tuple of references where a stage holds several.
    #[inline(always)]
    pub fn tiles(&self) -> <U::Contents as sealed::Contents>::Tiles<'_>
    where
        V: ReadsWhole<U>,
        U::Contents: AlwaysFilled,
    {
        // SAFETY: the view shows the whole tile (0).
        unsafe { self.stage.tiles() }
    }

    /// Returns the elements that the calling thread copied: of `LEN` elements `LEN / THREADS` in a
    /// row, from `rank * LEN / THREADS` on. Where a stage holds several tiles, it returns a tuple
    /// of such slices; [`own_of`](Self::own_of) returns that of one of them.
    ///
    /// At every scope these are the same elements. The length must be a multiple of `THREADS`, or
    /// it does not compile.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    #[inline(always)]
    pub fn own<'b, const THREADS: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
    ) -> <U::Contents as sealed::Contents>::Parts<'_>
    where
        U: Setup<Group = InBlock<'b, THREADS>>,
        U::Contents: AlwaysFilled,
    {
        const { check_parts::<U::Contents>(THREADS) };
        // SAFETY: the thread's own elements have landed at every scope and lie within its part of
        // the tile. The token is the calling thread's in the block whose pipeline this is: both
        // have the brand `'b` (`Thread`, 0). So its rank is below THREADS, which divides each
        // tile's length (asserted).
        unsafe { self.stage.part(thread.rank(), THREADS) }
    }

    /// Returns the elements that the calling thread copied of one of several tiles, as
    /// [`own`](Self::own) does of all: `own_of::<1>(&t)` is of the second tile of a stage.
    ///
    /// The length of that tile alone must be a multiple of the block's threads. At
    /// [`BlockScope`] others may have any, and are read by [`tiles`](Self::tiles).
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Blocked, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Multiplies each element by one of the two factors of its tile.
    /// #[kernel]
    /// pub fn scale(
    ///     block: Block<64>,
    ///     factors: Tiles<i32, 2>,
    ///     input: Tiles<i32, 128>,
    ///     mut out: TilesMut<i32, 128, Blocked>,
    ///     shared: Shared<Stages<([i32; 2], [i32; 128]), 3>>,
    /// ) {
    ///     let batches = (&factors.for_block(&block), &input.for_block(&block));
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).map_tiles(batches, &mut results, |tiles, dst| {
    ///         let (factors, _) = tiles.tiles();
    ///         block.threads(|t| {
    ///             let own = tiles.own_of::<1>(&t);
    ///             dst.set_all(&t, [own[0] * factors[0], own[1] * factors[1]]);
    ///         });
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 4 });
    /// # let factors = device.upload(&[1, 10, 2, 20])?;
    /// # let (input, mut out) = (device.upload(&[3; 256])?, device.zeroed(256)?);
    /// # scale::launch(&device.stream()?, 1, &factors, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [[3, 30].repeat(64), [6, 60].repeat(64)].concat());
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn own_of<const NUMBER: usize>(
        &self,
        thread: &impl ThreadOf<U::Group>,
    ) -> <<U::Contents as nth::HasTile<NUMBER>>::Tile as sealed::Contents>::Parts<'_>
    where
        U::Contents: HasTile<NUMBER>,
    {
        let threads = <U::Group as Group>::THREADS;
        const {
            check_parts::<<U::Contents as nth::HasTile<NUMBER>>::Tile>(<U::Group as Group>::THREADS);
        };
        // SAFETY: the thread's own elements have landed at every scope and lie within its part of
        // the tile. The token is the calling thread's in the block whose pipeline this is
        // (`ThreadOf`: both have one brand; `Thread`, 0). So its rank is below the number of
        // threads, which divides the tile's length (asserted).
        unsafe { self.stage.part_of::<NUMBER>(thread.rank_in_group(), threads) }
    }

    /// Returns the elements that the calling thread's warp copied: of `LEN` elements
    /// `LEN * 32 / THREADS` in a row, from the warp's rank times that number on. Where a stage
    /// holds several tiles, it returns a tuple of such slices.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    #[inline(always)]
    pub fn of_warp<'b, const THREADS: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
    ) -> <U::Contents as sealed::Contents>::Parts<'_>
    where
        U: Setup<Group = InBlock<'b, THREADS>>,
        U::Scope: AtLeastWarp,
        U::Contents: AlwaysFilled,
    {
        const { check_parts::<U::Contents>(warps::<THREADS>()) };
        // SAFETY: what the warp copied has landed and is visible to all of it at warp and at block
        // scope. The token is the calling thread's in the block whose pipeline this is (`'b`;
        // `Thread`, 0), so its warp's rank is below the number of warps, which divides each tile's
        // length (asserted).
        unsafe { self.stage.part(thread.rank() / WARP, warps::<THREADS>()) }
    }
}

impl<U: Setup<Contents = Optional<T>>, V, T: OneTile> Ready<'_, U, V> {
    /// Returns the tile, or `None` if the stage was committed empty. All threads get the same
    /// answer.
    #[inline(always)]
    pub fn get(&self) -> Option<&T>
    where
        V: ReadsWhole<U>,
    {
        // SAFETY: a stage in shared memory (`LandedStage`, 0). A stage does not lie at address 0 of
        // generic addresses, which is null. Without this, `is_some` would also compare the address
        // with null.
        unsafe { core::hint::assert_unchecked(!self.stage.memory().is_null()) };
        // SAFETY: the view shows the whole tile (0), if there is one (1).
        unsafe { self.stage.get(self.present) }
    }
}

impl<U: Setup, V: ReadsWhole<U>> Deref for Ready<'_, U, V>
where
    U::Contents: OneTile,
{
    type Target = U::Contents;

    #[inline(always)]
    fn deref(&self) -> &U::Contents {
        // SAFETY: the view shows the whole tile (0).
        unsafe { self.stage.tile() }
    }
}

/// The index of a tile whose elements other threads copied: no type is one.
#[diagnostic::on_unimplemented(
    message = "at `{S}` a thread may read only what its own scope copied: this tile can't be indexed",
    label = "another thread's element may not have landed, or be overwritten by that thread's next copy: a data race",
    note = "the programming guide's `with_staging_scope_thread` does this behind a barrier before the reads and races all the same: \
            nothing waits for them before the next copy into the stage",
    note = "read the thread's own elements, `tile.own(&t)` (at `WarpScope` its warp's, `tile.of_warp(&t)`); or make the stages \
            `Stages<.., BlockScope>`; or, at `ThreadScope`, `pipe.publish(tile)`, whose release has the next `acquire` wait for \
            the block"
)]
pub trait PositionAt<S: Scope>: NoPosition {}

/// No tile of several owners has elements at positions; this exists for its message.
impl<U: Setup<Reach: Part>, I: PositionAt<U::Scope>> Index<I> for Ready<'_, U, AtScope> {
    type Output = <U::Contents as sealed::Contents>::Item;

    fn index(&self, _: I) -> &Self::Output {
        unreachable!("nothing is a position at a scope narrower than the block")
    }
}
