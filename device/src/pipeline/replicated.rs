//! Pipelines of each warp's and each thread's own, in memory that a block shares out among them.

mod scratch;

use core::marker::PhantomData;

use crate::barrier::Landings;
use crate::engine::{Completion, CompletionOf, Engine, InScope};
use crate::group::block::{Block, PerThread, PerThreadValue, Thread};
use crate::group::warp::Warp;
use crate::group::{InThread, InWarp, Synchronise, warps};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::{Layout, Shared, Whole};
use crate::pipeline::{Idle, Pipeline, Setup, Unified, View};
use crate::scope::{Scope, ThreadScope, WarpScope};
use crate::stage::StageSet;
use crate::stage::contents::{self, Contents};
use crate::stage::ring::Fills;
use crate::stage::stages::{Stages, barrier_bytes, checked_bytes};

pub use scratch::WarpScratch;

/// Stages for pipelines of each warp's own (`L` is `Stages<.., WarpScope>`) or of each thread's own
/// (`Stages<.., ThreadScope>`) in a block of `THREADS`, or a tile of each warp's own that its lanes
/// compute (`L` is [`Scratch`](crate::Scratch)).
///
/// What `L` holds is one warp's or one thread's; the memory is `THREADS / 32` or `THREADS` times
/// that. Pipelines and tiles are used inside the closure of [`Shared::warps`] or
/// [`Shared::threads`], each at its own pace.
pub struct Replicated<L, const THREADS: usize>(PhantomData<L>);

impl<C: Contents, const COUNT: usize, E, S, const THREADS: usize> Replicated<Stages<C, COUNT, E, S>, THREADS> {
    /// Bytes from one stage of a ring to its next one. The same stages of all other rings lie
    /// between them, so that neighbouring threads have neighbouring stages.
    pub(crate) const fn stride(rings: usize) -> usize {
        (rings * C::BYTES).next_multiple_of(Stages::<C, COUNT, E, S>::ALIGNMENT)
    }
}

// SAFETY: the alignment is that of the stages, and each stride a multiple of it; COUNT strides, and
// behind them the rings' mbarriers, are what the rings touch.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, const THREADS: usize> Layout
    for Replicated<Stages<C, COUNT, E, WarpScope>, THREADS>
{
    const BYTES: usize = checked_bytes(COUNT, Self::stride(warps::<THREADS>()))
        + barrier_bytes::<E>(COUNT, warps::<THREADS>()).next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = Stages::<C, COUNT, E, WarpScope>::ALIGNMENT;
    const STORES: bool = false;
}

// SAFETY: as above.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, const THREADS: usize> Layout
    for Replicated<Stages<C, COUNT, E, ThreadScope>, THREADS>
{
    const BYTES: usize = checked_bytes(COUNT, Self::stride(THREADS));
    const ALIGNMENT: usize = Stages::<C, COUNT, E, ThreadScope>::ALIGNMENT;
    const STORES: bool = false;
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, const THREADS: usize, P>
    Shared<'s, Replicated<Stages<C, COUNT, E, WarpScope>, THREADS>, P>
{
    /// Runs `body` once in every warp with a pipeline of the warp's own, and keeps the result for
    /// each of the warp's threads. Warps run at their own pace, without a barrier of the block.
    ///
    /// What a pipeline has in flight when `body` returns is waited for (PTX `cp.async.wait_all`).
    ///
    /// # Threads
    ///
    /// The block. `body` is warp-level code: its control flow is the same in all threads of a warp.
    #[inline(always)]
    pub fn warps<'b, T, F>(
        self,
        block: &Block<'b, THREADS>,
        body: F,
    ) -> Results<'b, 's, T, C, COUNT, E, WarpScope, THREADS, P>
    where
        T: PerThreadValue,
        F: for<'w> Fn(Warp<'w, 'b, THREADS>, WarpPipeline<'w, C, COUNT, E, THREADS, P>) -> T + Uniform,
    {
        const { contents::check::<C, E, InWarp<THREADS>, WarpScope>(COUNT) };
        let (base, offset) = (self.base(), self.offset());
        let results = block.map_warps_of(|warp| {
            // SAFETY: ranks are below the number of rings, whose first stages lie one after the
            // other in this memory.
            let first = unsafe { base.add(warp.rank() * C::BYTES) };
            // SAFETY: each ring starts one stage of its own after the ring before, in memory that
            // belongs to them (`Shared`, 0); a stage is aligned as its contents need, since it
            // starts at a multiple of their size (`Contents::BYTES`). Each warp makes one pipeline.
            // Those of the rings' mbarriers lie behind all stages.
            let barriers =
                offset + COUNT * Replicated::<Stages<C, COUNT, E, WarpScope>, THREADS>::stride(warps::<THREADS>());
            let barriers = barriers + 8 * COUNT * warp.rank();
            let mut fills = Fills::NONE;
            // SAFETY: as above for the mbarriers' memory, in code of this warp.
            let landings = unsafe { Landings::<E, InWarp<THREADS>, WarpScope>::enter(barriers, COUNT) };
            // SAFETY: the same, and the mbarriers were made.
            let pipe = unsafe { Pipeline::new(first, barriers, &raw mut fills) };
            let result = body(warp, pipe);
            landings.drain(fills);
            CompletionOf::<E>::drain();
            // SAFETY: the warp's pipeline is gone, and its copies have landed.
            unsafe { landings.leave() };
            result
        });
        // SAFETY: each warp's pipeline is gone, and its copies have landed.
        (results, unsafe { Retired::new(self.offset()) })
    }
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, const THREADS: usize, P>
    Shared<'s, Replicated<Stages<C, COUNT, E, ThreadScope>, THREADS>, P>
{
    /// Runs `body` once in every thread with a pipeline of the thread's own, and keeps each
    /// thread's result for it. Threads run at their own pace; there is no barrier.
    ///
    /// What a pipeline has in flight when `body` returns is waited for (PTX `cp.async.wait_all`).
    ///
    /// # Threads
    ///
    /// The block. `body` is a per-thread closure.
    ///
    /// CUDA: `cuda::make_pipeline()`, a `cuda::pipeline<cuda::thread_scope_thread>`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel,
    /// };
    ///
    /// type Pieces = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 32>;
    ///
    /// /// Thread `r` adds up the pieces `r`, `r + 32`, .. of four elements each.
    /// #[kernel]
    /// pub fn sums_of_pieces(
    ///     block: Block<32>,
    ///     input: Tiles<i32, 4>,
    ///     mut out: TilesMut<i32, 32>,
    ///     shared: Shared<Pieces>,
    /// ) {
    ///     let (sums, _) = shared.threads(&block, |t, pipe| {
    ///         let (first, mut sum) = (t.rank(), 0);
    ///         // Not the same for all threads.
    ///         let pieces = input.tiles().saturating_sub(first).div_ceil(32);
    ///         let _ = pipe.for_each(
    ///             pieces,
    ///             |stage, i| stage.copy(input.tile(first + 32 * i)),
    ///             |piece, _| sum += piece.iter().sum::<i32>(),
    ///         );
    ///         sum
    ///     });
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| dst.set(&t, sums.get(&t)));
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 3 });
    /// # let (input, mut out) = (device.upload(&[1; 4 * 70])?, device.zeroed(32)?);
    /// # sums_of_pieces::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?[4..8], [12, 12, 8, 8]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn threads<'b, T, F>(
        self,
        block: &Block<'b, THREADS>,
        body: F,
    ) -> Results<'b, 's, T, C, COUNT, E, ThreadScope, THREADS, P>
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'b, THREADS>, ThreadPipeline<'t, C, COUNT, E, THREADS, P>) -> T + Uniform,
    {
        const { contents::check::<C, E, InThread<THREADS>, ThreadScope>(COUNT) };
        let base = self.base();
        let results = block.map_of(|thread| {
            // SAFETY: as in `warps`, with threads for warps.
            let first = unsafe { base.add(thread.rank() * C::BYTES) };
            // SAFETY: as above.
            let pipe = unsafe { Pipeline::new(first, 0, core::ptr::null_mut()) };
            let result = body(thread, pipe);
            CompletionOf::<E>::drain();
            result
        });
        // SAFETY: each thread's pipeline is gone, and its copies have landed.
        (results, unsafe { Retired::new(self.offset()) })
    }
}

/// What each thread keeps of its own or its warp's pipeline, and the pipelines' memory.
pub type Results<'b, 's, T, C, const COUNT: usize, E, S, const THREADS: usize, P> =
    (PerThread<'b, T, THREADS>, Retired<'s, Replicated<Stages<C, COUNT, E, S>, THREADS>, P>);

/// The pipeline of one warp, made by [`Shared::warps`].
pub type WarpPipeline<'w, C, const COUNT: usize, E, const THREADS: usize, P> =
    Idle<'w, Unified<Replicated<Stages<C, COUNT, E, WarpScope>, THREADS>, InWarp<THREADS>, P>, COUNT>;

/// The pipeline of one thread, made by [`Shared::threads`].
pub type ThreadPipeline<'t, C, const COUNT: usize, E, const THREADS: usize, P> =
    Idle<'t, Unified<Replicated<Stages<C, COUNT, E, ThreadScope>, THREADS>, InThread<THREADS>, P>, COUNT>;

/// Shared memory of which warps or threads have had a part each, though slower threads may still
/// be reading it.
///
/// # Invariants
///
/// 0. The memory `offset` bytes into the block's belongs to this value alone, and no copy into it
///    is in flight.
#[must_use = "its memory is lost for other uses: call `reclaim`, or drop it with `let _ =` at the end of a kernel"]
pub struct Retired<'s, L, P = Whole> {
    offset: usize,
    brand: Brand<'s>,
    level: BlockLevel,
    layout: PhantomData<(L, P)>,
}

impl<L, P> !Uniform for Retired<'_, L, P> {}

impl<'s, L, P> Retired<'s, L, P> {
    /// Makes the owner of memory that warps or threads have used.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(crate) unsafe fn new(offset: usize) -> Self {
        Retired { offset, brand: PhantomData, level: PhantomData, layout: PhantomData }
    }
}

impl<'s, L: Layout, P> Retired<'s, L, P> {
    /// Waits for all threads of the block and gives the memory back, to be used again. PTX:
    /// `bar.sync`.
    pub fn reclaim<const THREADS: usize>(self, block: &Block<'_, THREADS>) -> Shared<'s, L, P> {
        block.sync();
        // SAFETY: (0) is the value's own invariant, and after the barrier no thread reads it any
        // more; (1) it was a `Shared`.
        unsafe { Shared::new(self.offset) }
    }
}

/// The stages of a pipeline of a warp's or a thread's own.
impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P, V, const THREADS: usize> StageSet
    for Unified<Replicated<Stages<C, COUNT, E, S>, THREADS>, G, P, V>
where
    Replicated<Stages<C, COUNT, E, S>, THREADS>: Layout,
{
    type Contents = C;
    type Engine = E;
    type Scope = S;
    type Group = G;
    type Layout = Replicated<Stages<C, COUNT, E, S>, THREADS>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Replicated::<Stages<C, COUNT, E, S>, THREADS>::stride(THREADS / G::THREADS);
}

impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P, V: View<Self>, const THREADS: usize>
    Setup for Unified<Replicated<Stages<C, COUNT, E, S>, THREADS>, G, P, V>
where
    Replicated<Stages<C, COUNT, E, S>, THREADS>: Layout,
{
    type Reach = G::Reach;
    type View = V;
    type Place = InScope;
}
