//! The tiles of an output that warps or threads have for themselves.

use core::marker::PhantomData;

use super::arrangement::Arrangement;
use super::tile::OutputTile;
use super::tiles::{BlockTilesMut, TileViewMut};
use crate::group::block::{Block, Thread};
use crate::group::warp::Warp;
use crate::isa::WARP;
use crate::marker::{Brand, RoleShared, Uniform};
use crate::view::geometry::Geometry;
use crate::view::numbers::TileNumbers;
use crate::view::order::{ByThreads, ByWarps, Order};
use crate::view::share::Share;

/// An output whose tiles are dealt to the warps of all blocks (`O` is [`ByWarps`]), or to their
/// threads ([`ByThreads`]): closures capture it, and each warp or thread takes its own tiles.
///
/// # Invariants
///
/// 0. The view is one of the block of `THREADS` that `'b` is the brand of.
#[must_use = "the output is not written: call `for_warp` or `for_thread` in the closure"]
pub struct MembersTilesMut<'v, 'k, 'b, S: OutputTile, const THREADS: usize, G: Geometry, A, O> {
    view: &'v TileViewMut<'k, S, G, A, O>,
    block: Brand<'b>,
}

// SAFETY: (0) a warp or a thread gets from it the tiles of its own rank alone, which its token
// tells, and writes of them its own elements; (1) it has no collective operation; (2) an address in
// global memory is bound to no OS thread.
unsafe impl<S: OutputTile, const THREADS: usize, G: Geometry, A, O> Uniform
    for MembersTilesMut<'_, '_, '_, S, THREADS, G, A, O>
{
}
impl<S: OutputTile, const THREADS: usize, G: Geometry, A, O> !RoleShared
    for MembersTilesMut<'_, '_, '_, S, THREADS, G, A, O>
{
}

impl<'k, S: OutputTile, G: Geometry, A: Arrangement> TileViewMut<'k, S, G, A, ByWarps> {
    /// Returns the output for closures of warp-level code, in which each warp takes its tiles by
    /// [`for_warp`](MembersTilesMut::for_warp).
    ///
    /// # Threads
    ///
    /// The block.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, ByWarps, CpAsync, Replicated, Shared, Stages, Striped, Tiles, TilesMut,
    ///     WarpScope, kernel,
    /// };
    ///
    /// /// Reverses the input by tiles. Each warp has a pipeline and tiles of its own.
    /// #[kernel]
    /// pub fn reverse_by_warps(
    ///     block: Block<64>,
    ///     input: Tiles<u32, 32>,
    ///     mut out: TilesMut<u32, 32, Striped, ByWarps>,
    ///     shared: Shared<Replicated<Stages<[u32; 32], 3, CpAsync, WarpScope>, 64>>,
    /// ) {
    ///     let out = out.for_warps(&block);
    ///     let _ = shared.warps(&block, |warp, pipe| {
    ///         let (tiles, mut results) = (input.for_warp(&warp), out.for_warp(&warp));
    ///         let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
    ///             warp.lanes(|lane| dst.set(&lane.in_warp(), tile[31 - lane.rank()]));
    ///         });
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 5 });
    /// # let input = device.upload(&Vec::from_iter(0..32 * 11))?;
    /// # let mut out = device.zeroed(32 * 11)?;
    /// # reverse_by_warps::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let reversed = Vec::from_iter((0..32 * 11).map(|i| i / 32 * 32 + 31 - i % 32));
    /// # assert_eq!(out.download()?, reversed);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn for_warps<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> MembersTilesMut<'_, 'k, 'b, S, THREADS, G, A, ByWarps> {
        let _ = block;
        MembersTilesMut { view: self, block: PhantomData }
    }
}

impl<'k, S: OutputTile, G: Geometry, A: Arrangement> TileViewMut<'k, S, G, A, ByThreads> {
    /// Returns the output for closures that run per thread, in which each thread takes its tiles by
    /// [`for_thread`](MembersTilesMut::for_thread).
    ///
    /// # Threads
    ///
    /// The block.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, Blocked, ByThreads, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles,
    ///     TilesMut, kernel,
    /// };
    ///
    /// /// Reverses every four elements. Each thread has a pipeline and tiles of its own.
    /// #[kernel]
    /// pub fn reverse_by_threads(
    ///     block: Block<32>,
    ///     input: Tiles<u32, 4>,
    ///     mut out: TilesMut<u32, 4, Blocked, ByThreads>,
    ///     shared: Shared<Replicated<Stages<[u32; 4], 2, CpAsync, ThreadScope>, 32>>,
    /// ) {
    ///     let out = out.for_threads(&block);
    ///     let _ = shared.threads(&block, |t, pipe| {
    ///         let (tiles, mut results) = (input.for_thread(&t), out.for_thread(&t));
    ///         let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
    ///             dst.set_each(&t.alone(), |i| tile[3 - i]);
    ///         });
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 5 });
    /// # let input = device.upload(&Vec::from_iter(0..600))?;
    /// # let mut out = device.zeroed(600)?;
    /// # reverse_by_threads::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, Vec::from_iter((0..600).map(|i| i / 4 * 4 + 3 - i % 4)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn for_threads<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> MembersTilesMut<'_, 'k, 'b, S, THREADS, G, A, ByThreads> {
        let _ = block;
        MembersTilesMut { view: self, block: PhantomData }
    }
}

/// Says that an output's tiles are dealt to blocks. It holds for none that is written by warps or
/// threads.
#[diagnostic::on_unimplemented(
    message = "the tiles of this output are dealt to warps or to threads, not to blocks",
    label = "the output's type has the order `ByWarps` or `ByThreads`",
    note = "write it by `out.for_warps(&block)` or `out.for_threads(&block)`, in closures; or leave the order out of its type, for `for_block`"
)]
pub trait DealtToBlocks {}

/// A share of the block's: it exists to say that there is none, and can't be called.
macro_rules! no_share_of_block {
    ($($order:ty)*) => {$(
        impl<S: OutputTile, G: Geometry, A: Arrangement> TileViewMut<'_, S, G, A, $order> {
            #[doc(hidden)]
            pub fn for_block<'b, const THREADS: usize>(
                &mut self,
                _: &Block<'b, THREADS>,
            ) -> BlockTilesMut<'_, 'b, S, THREADS, G, A, $order>
            where
                Self: DealtToBlocks,
            {
                unreachable!("no output in this order is `DealtToBlocks`")
            }
        }
    )*};
}
no_share_of_block!(ByWarps ByThreads);

impl<'b, S: OutputTile, const THREADS: usize, G: Geometry, A: Arrangement>
    MembersTilesMut<'_, '_, 'b, S, THREADS, G, A, ByWarps>
{
    /// Returns the tiles of this warp among those of all warps of the grid. Its lanes write them,
    /// each by its token [`in_warp`](crate::Lane::in_warp), and the arrangement deals elements out
    /// to 32 threads.
    ///
    /// # Panics
    ///
    /// If the grid has 2^32 warps or more, or a view of two dimensions 2^32 tiles or more.
    ///
    /// # Threads
    ///
    /// Warp-level code.
    #[inline(always)]
    #[track_caller]
    pub fn for_warp<'w>(&self, warp: &Warp<'w, 'b, THREADS>) -> BlockTilesMut<'_, 'w, S, WARP, G, A, ByWarps> {
        // SAFETY: the token is the calling warp's in the block of this view (0; `Warp`, 0), whose
        // warps are `count`.
        unsafe { self.of_member(warp.rank(), warp.count()) }
    }
}

impl<'b, S: OutputTile, const THREADS: usize, G: Geometry, A: Arrangement>
    MembersTilesMut<'_, '_, 'b, S, THREADS, G, A, ByThreads>
{
    /// Returns the tiles of this thread among those of all threads of the grid. It writes them by
    /// its token [`alone`](crate::Thread::alone), and every element is its own.
    ///
    /// # Panics
    ///
    /// If the grid has 2^32 threads or more, or a view of two dimensions 2^32 tiles or more.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    #[inline(always)]
    #[track_caller]
    pub fn for_thread<'t>(&self, thread: &Thread<'t, 'b, THREADS>) -> BlockTilesMut<'_, 't, S, 1, G, A, ByThreads> {
        // SAFETY: the token is the calling thread's in the block of this view (0; `Thread`, 0),
        // which has THREADS.
        unsafe { self.of_member(thread.rank(), THREADS) }
    }
}

impl<S: OutputTile, const THREADS: usize, G: Geometry, A: Arrangement, O: Order>
    MembersTilesMut<'_, '_, '_, S, THREADS, G, A, O>
{
    /// The tiles of member `rank` of `count` in this block, for a group of `SIZE` with the brand
    /// `'m`.
    ///
    /// # Safety
    ///
    /// The order `O` deals tiles to groups of `SIZE` threads, of which the block has `count`. The
    /// caller is the one of rank `rank`, and `'m` is its brand.
    #[inline(always)]
    #[track_caller]
    unsafe fn of_member<'m, const SIZE: usize>(
        &self,
        rank: usize,
        count: usize,
    ) -> BlockTilesMut<'_, 'm, S, SIZE, G, A, O> {
        let (division, tiles) = self.view.geometry().divide::<S>();
        let numbers = TileNumbers::of_member(tiles, rank, count);
        // SAFETY: the numbers of this member, which no other one of any block has (its numbers are
        // those of its rank among all members, modulo how many there are). The view's order is in
        // its type, and in this order tiles are given out here alone, always to the same members,
        // and in each the arrangement gives an element to the same thread.
        unsafe { self.view.share(Share { division, numbers, count: G::count(numbers), whole: false }) }
    }
}
