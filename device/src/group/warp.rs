//! Warps: groups of 32 threads, their lanes, and warp-level code.

use core::marker::PhantomData;

use crate::group::block::{Block, PerThread, PerThreadValue, Thread};
use crate::group::warps;
use crate::isa::{self, WARP};
use crate::marker::{BlockLevel, Brand, Uniform};

/// The 32 threads of one warp, taken together, inside a closure of [`Block::warps`] or
/// [`Shared::warps`](crate::Shared::warps).
///
/// Warp-level code runs the same way in all threads of the warp: it may branch on the warp's rank
/// and on results of the warp's collectives, and lanes exist only inside the closures of
/// [`lanes`](Self::lanes), [`map`](Self::map) and [`update`](Self::update). The block's collectives
/// are out of reach.
///
/// CUDA: `cooperative_groups::thread_block_tile<32>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input, TilesMut, kernel};
///
/// /// Writes 1 where all elements of a warp are equal, else 0.
/// #[kernel]
/// pub fn all_equal(block: Block<64>, input: Input<u8>, mut out: TilesMut<u8, 64>) {
///     let mut results = out.for_block(&block);
///     let result = results.get_mut(0);
///     block.warps(|warp| {
///         let own = warp.map(|lane| input.at(lane.thread().rank()));
///         let first = warp.broadcast(&own, 0);
///         let equal = warp.map(|lane| own.get(&lane) == first);
///         // The answer is the warp's, so that warp-level code may branch on it.
///         let mark = if warp.all(&equal) { 1 } else { 0 };
///         warp.lanes(|lane| result.set(lane.thread(), mark));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let input = device.upload(&[[7; 32].as_slice(), &[7; 31], &[8]].concat())?;
/// # let mut out = device.zeroed(64)?;
/// # all_equal::launch(&device.stream()?, 1, &input, &mut out)?;
/// # assert_eq!(out.download()?, [[1; 32], [0; 32]].concat());
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. `rank` is the calling warp's rank among the whole warps of the block or role of `THREADS`
///    threads that `'b` is the brand of: it is below `THREADS / 32`.
/// 1. The value is in warp-level code: all 32 threads of the warp execute it.
pub struct Warp<'w, 'b, const THREADS: usize> {
    rank: usize,
    warp: Brand<'w>,
    block: Brand<'b>,
    level: BlockLevel,
}

impl<const THREADS: usize> !Uniform for Warp<'_, '_, THREADS> {}
impl<const THREADS: usize> !Uniform for Lane<'_, '_, '_, THREADS> {}

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Runs `body` once in every warp. `THREADS` must be a multiple of 32, or it does not compile.
    ///
    /// `body` may capture [`Uniform`] values only; results go out through a
    /// [`TileMut`](crate::TileMut) in the lanes' closures, or through
    /// [`map_warps`](Self::map_warps).
    ///
    /// CUDA: `cooperative_groups::tiled_partition<32>(block)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, TilesMut, kernel};
    ///
    /// /// Writes to each element the sum of the lanes' numbers up to it, times the warp's rank.
    /// #[kernel]
    /// pub fn sums_of_lanes(block: Block<64>, mut out: TilesMut<u32, 64>) {
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.warps(|warp| {
    ///         let lanes = warp.map(|lane| lane.rank() as u32);
    ///         let sums = warp.scan(&lanes, u32::wrapping_add);
    ///         warp.lanes(|lane| {
    ///             let number = warp_number(lane.thread().rank());
    ///             dst.set(lane.thread(), sums.get(&lane) * number);
    ///         });
    ///     });
    /// }
    ///
    /// fn warp_number(rank: usize) -> u32 {
    ///     rank as u32 / 32
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let mut out = device.zeroed(64)?;
    /// # sums_of_lanes::launch(&device.stream()?, 1, &mut out)?;
    /// # assert_eq!(out.download()?[32..36], [0, 1, 3, 6]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn warps<F>(&self, body: F)
    where
        F: for<'w> Fn(Warp<'w, 'b, THREADS>) + Uniform,
    {
        const { assert!(warps::<THREADS>() > 0) };
        // SAFETY: `for_each_warp` passes the calling warp's rank in the block, whose brand is `'b`
        // (`Block`, 2); the closure is the same in all of the warp.
        let run = |rank| body(unsafe { Warp::new(rank) });
        // SAFETY: the block has THREADS threads in one dimension (`Block`, 0), whole warps by the
        // assertion.
        unsafe { isa::for_each_warp(THREADS, run) };
    }

    /// Runs `body` once in every warp and keeps the result for each of the warp's threads.
    #[inline(always)]
    pub fn map_warps<T, F>(&self, body: F) -> PerThread<'b, T, THREADS>
    where
        T: PerThreadValue,
        F: for<'w> Fn(Warp<'w, 'b, THREADS>) -> T + Uniform,
    {
        self.map_warps_of(body)
    }

    /// As [`map_warps`](Self::map_warps), for closures of this crate that capture what users' may
    /// not.
    #[inline(always)]
    pub(crate) fn map_warps_of<T: PerThreadValue>(
        &self,
        body: impl for<'w> Fn(Warp<'w, 'b, THREADS>) -> T,
    ) -> PerThread<'b, T, THREADS> {
        const { assert!(warps::<THREADS>() > 0) };
        // SAFETY: `of_warps` passes the calling warp's rank in the block, whose brand is `'b`
        // (`Block`, 2); the closure is the same in all of the warp.
        let run = |rank| body(unsafe { Warp::new(rank) });
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1), whole warps by the
        // assertion.
        PerThread::from_values(unsafe { isa::PerThread::of_warps(run) })
    }
}

impl<'w, 'b, const THREADS: usize> Warp<'w, 'b, THREADS> {
    /// Makes the token of a warp.
    ///
    /// # Safety
    ///
    /// The invariants hold, for the brands that the caller gives it.
    #[inline(always)]
    pub(crate) unsafe fn new(rank: usize) -> Self {
        Warp { rank, warp: PhantomData, block: PhantomData, level: PhantomData }
    }

    /// Returns the warp's rank in its block, `0..THREADS / 32` (CUDA: `meta_group_rank()`).
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of warps in the block (CUDA: `meta_group_size()`).
    #[inline(always)]
    pub fn count(&self) -> usize {
        warps::<THREADS>()
    }

    /// Waits for all threads of the warp (CUDA: `__syncwarp()`; PTX: `bar.warp.sync`).
    #[inline(always)]
    pub fn sync(&self) {
        // SAFETY: warp-level code runs in all threads of the warp.
        unsafe { isa::warp_barrier() };
    }

    /// Runs `body` once in every lane. It may capture [`Uniform`] values only.
    #[inline(always)]
    pub fn lanes<F>(&self, body: F)
    where
        F: for<'t> Fn(Lane<'t, 'w, 'b, THREADS>) + Uniform,
    {
        // SAFETY: `for_each_lane` passes the calling thread's lane.
        isa::for_each_lane(|lane| body(unsafe { self.lane(lane) }));
    }

    /// Runs `body` once in every lane and keeps each lane's result for it.
    #[inline(always)]
    pub fn map<T, F>(&self, body: F) -> PerLane<'w, T>
    where
        T: PerThreadValue,
        F: for<'t> Fn(Lane<'t, 'w, 'b, THREADS>) -> T + Uniform,
    {
        // SAFETY: `new` passes the calling thread's lane.
        PerLane::from_values(isa::PerLane::new(|lane| body(unsafe { self.lane(lane) })))
    }

    /// Runs `body` once in every lane with that lane's own value.
    #[inline(always)]
    pub fn update<T, F>(&self, values: &mut PerLane<'w, T>, body: F)
    where
        T: PerThreadValue,
        F: for<'t> Fn(Lane<'t, 'w, 'b, THREADS>, &mut T) + Uniform,
    {
        // SAFETY: `update` passes the calling thread's lane.
        values.values.update(|lane, value| body(unsafe { self.lane(lane) }, value));
    }

    /// The token of one of its lanes.
    ///
    /// # Safety
    ///
    /// `rank` is the calling thread's lane.
    #[inline(always)]
    pub(super) unsafe fn lane<'t>(&self, rank: usize) -> Lane<'t, 'w, 'b, THREADS> {
        // SAFETY: lane `rank` of the whole warp `self.rank` (0) is thread `self.rank * 32 + rank`
        // of the block or role.
        let thread = unsafe { Thread::new(self.rank * WARP + rank) };
        Lane { rank, thread, warp: PhantomData }
    }
}

/// One thread of a warp, inside one closure of warp-level code: the token that knows the lane.
///
/// It is branded with its call (`'t`), its warp (`'w`) and its block (`'b`), as [`Thread`] is.
pub struct Lane<'t, 'w, 'b, const THREADS: usize> {
    rank: usize,
    thread: Thread<'t, 'b, THREADS>,
    warp: Brand<'w>,
}

impl<'t, 'w, 'b, const THREADS: usize> Lane<'t, 'w, 'b, THREADS> {
    /// Returns the thread's rank in its warp, `0..32` (CUDA: `thread_rank()` of the tile,
    /// `%laneid`).
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the thread's token in its warp: for tiles of an output that the warp has for itself,
    /// [`MembersTilesMut::for_warp`](crate::MembersTilesMut::for_warp).
    #[inline(always)]
    pub fn in_warp(&self) -> Thread<'t, 'w, WARP> {
        // SAFETY: the rank of the calling thread in the warp that `'w` is the brand of.
        unsafe { Thread::new(self.rank) }
    }

    /// Returns the thread's token in its block: for the block's views and tiles.
    #[inline(always)]
    pub fn thread(&self) -> &Thread<'t, 'b, THREADS> {
        &self.thread
    }
}

/// One `T` per lane of one warp, in registers: [`PerThread`] at the level of a warp.
///
/// Warp-level code can hand it back to a closure or to a collective, but not look into it.
pub struct PerLane<'w, T> {
    pub(crate) values: isa::PerLane<T>,
    brand: Brand<'w>,
}

// SAFETY: as for `PerThread`.
unsafe impl<T: PerThreadValue> Uniform for PerLane<'_, T> {}

impl<'w, T: PerThreadValue> PerLane<'w, T> {
    #[inline(always)]
    pub(crate) fn from_values(values: isa::PerLane<T>) -> Self {
        PerLane { values, brand: PhantomData }
    }

    /// Returns the calling lane's own value.
    #[inline(always)]
    pub fn get<const THREADS: usize>(&self, lane: &Lane<'_, 'w, '_, THREADS>) -> T {
        self.values.get(lane.rank)
    }
}
