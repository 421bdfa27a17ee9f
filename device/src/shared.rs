//! Shared memory: typed, handed out once, given back when its user is finished.

use core::marker::PhantomData;

use crate::block::{Block, PerThread, PerThreadValue, Thread};
use crate::contents::{self, Contents};
use crate::engine::{CpAsync, Engine};
use crate::group::{InBlock, InThread, InWarp, Meet, warps};
use crate::isa;
use crate::pipeline::{Idle, Pipeline, Setup, Unified};
use crate::scope::{BlockScope, Scope, ThreadScope, WarpScope};
use crate::tile::{BlockLevel, Brand};
use crate::uniform::Uniform;
use crate::warp::Warp;

/// What a kernel keeps in shared memory: [`Stages`], [`Private`] stages, or a pair of layouts.
///
/// # Safety
///
/// `BYTES` is a multiple of `ALIGNMENT`, a power of two of at most 128, and what the layout's user touches lies within
/// `BYTES` bytes of its start.
pub unsafe trait Layout {
    /// The layout's size in bytes.
    const BYTES: usize;
    /// The alignment of its start in bytes.
    const ALIGNMENT: usize;
}

/// The stages of a pipeline: `COUNT` times what `C` says (a tile or several), filled by engine `E`, synchronised at scope `S`.
///
/// CUDA: `cuda::pipeline_shared_state<scope, COUNT>` and the buffer beside it, in one.
pub struct Stages<C, const COUNT: usize, E = CpAsync, S = BlockScope>(PhantomData<(C, E, S)>);

impl<C: Contents, const COUNT: usize, E, S> Stages<C, COUNT, E, S> {
    /// Bytes from one stage's start to the next one's: the contents' size, rounded up to 16.
    pub(crate) const STRIDE: usize = C::BYTES.next_multiple_of(16);
}

/// Refuses no stages, and more than a ring counts.
const fn checked_bytes(count: usize, stride: usize) -> usize {
    assert!(count >= 1, "a pipeline has at least one stage");
    assert!(stride <= u32::MAX as usize / count, "the stages of a pipeline fit in 4 GiB");
    count * stride
}

// SAFETY: 16 is a power of two, STRIDE a multiple of it, and COUNT stages of STRIDE bytes each are what a pipeline touches.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, S: Scope> Layout for Stages<C, COUNT, E, S> {
    const BYTES: usize = checked_bytes(COUNT, Self::STRIDE);
    const ALIGNMENT: usize = 16;
}

/// Stages for pipelines of each warp's own (`L` is `Stages<.., WarpScope>`) or of each thread's own (`Stages<.., ThreadScope>`) in
/// a block of `THREADS`.
///
/// What `L` holds is one warp's or one thread's; the memory is `THREADS / 32` or `THREADS` times that. The pipelines run inside the
/// closure of [`Shared::warps`] or [`Shared::threads`], each at its own pace.
pub struct Private<L, const THREADS: usize>(PhantomData<L>);

impl<C: Contents, const COUNT: usize, E, S, const THREADS: usize> Private<Stages<C, COUNT, E, S>, THREADS> {
    /// Bytes from one stage of a ring to its next one, with the same stages of all other rings between: neighbouring threads'
    /// stages are neighbours.
    pub(crate) const fn stride(rings: usize) -> usize {
        (rings * C::BYTES).next_multiple_of(16)
    }
}

// SAFETY: 16 is a power of two and each stride a multiple of it; COUNT strides are what the rings touch.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, const THREADS: usize> Layout
    for Private<Stages<C, COUNT, E, WarpScope>, THREADS>
{
    const BYTES: usize = checked_bytes(COUNT, Self::stride(warps::<THREADS>()));
    const ALIGNMENT: usize = 16;
}

// SAFETY: as above.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, const THREADS: usize> Layout
    for Private<Stages<C, COUNT, E, ThreadScope>, THREADS>
{
    const BYTES: usize = checked_bytes(COUNT, Self::stride(THREADS));
    const ALIGNMENT: usize = 16;
}

// SAFETY: the second layout starts at a multiple of its alignment behind the first, and the sum is rounded up to the
// larger alignment; both are powers of two of at most 128.
unsafe impl<A: Layout, B: Layout> Layout for (A, B) {
    const BYTES: usize = (A::BYTES.next_multiple_of(B::ALIGNMENT) + B::BYTES).next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = if A::ALIGNMENT > B::ALIGNMENT { A::ALIGNMENT } else { B::ALIGNMENT };
}

/// The position of a kernel's whole shared memory.
pub enum Whole {}
/// The position of the first half of what was at `P`.
pub struct First<P>(PhantomData<P>);
/// The position of the second half of what was at `P`.
pub struct Second<P>(PhantomData<P>);

/// A block's shared memory, laid out as `L`.
///
/// A kernel takes at most one, as its last parameter; the launch reserves what the type says. `'s` and the position `P`
/// tell every piece apart by type, so that a tile of one pipeline can't be released into another.
///
/// CUDA: `extern __shared__`.
///
/// # Invariants
///
/// 0. `L::BYTES` bytes of the block's shared memory from byte `offset` on belong to this value alone, no copy into
///    them is under way, and no thread reads them.
/// 1. `offset` is a multiple of `L::ALIGNMENT`.
#[must_use = "without its shared memory a kernel has no pipeline: call `pipeline` or `split`"]
pub struct Shared<'s, L, P = Whole> {
    offset: usize,
    brand: Brand<'s>,
    level: BlockLevel,
    layout: PhantomData<(L, P)>,
}

impl<L, P> !Uniform for Shared<'_, L, P> {}

impl<'s, L: Layout, P> Shared<'s, L, P> {
    /// Makes the shared memory that starts `offset` bytes into the block's.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    pub(crate) unsafe fn new(offset: usize) -> Self {
        Shared { offset, brand: PhantomData, level: PhantomData, layout: PhantomData }
    }

    /// The address of the memory's first byte.
    #[inline(always)]
    fn base(&self) -> *mut u8 {
        // SAFETY: `Shared` reaches no further than the block's shared memory (0).
        unsafe { isa::shared_base().add(self.offset) }
    }
}

impl<'s, A: Layout, B: Layout, P> Shared<'s, (A, B), P> {
    /// Splits the memory in two.
    pub fn split(self) -> (Shared<'s, A, First<P>>, Shared<'s, B, Second<P>>) {
        // SAFETY: the first `A::BYTES` bytes of what `self` owned; `self` is gone (0). Its start is aligned to the larger
        // of both alignments (1).
        let first = unsafe { Shared::new(self.offset) };
        // SAFETY: `B::BYTES` bytes behind the first half, within `<(A, B)>::BYTES` (0), rounded up to its alignment (1).
        let second = unsafe { Shared::new(self.offset + A::BYTES.next_multiple_of(B::ALIGNMENT)) };
        (first, second)
    }

    /// Joins the two halves again.
    pub fn join(first: Shared<'s, A, First<P>>, second: Shared<'s, B, Second<P>>) -> Self {
        let _ = second;
        // SAFETY: both halves are given up, and halves of this brand and position come from one `split` (0, 1).
        unsafe { Shared::new(first.offset) }
    }
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, S: Scope, P> Shared<'s, Stages<C, COUNT, E, S>, P> {
    /// Makes a pipeline of these stages, all of them free.
    ///
    /// It lowers to nothing: a unified pipeline has no state in memory. A tile that the engine can't copy, or that the scope can't
    /// share out, does not compile.
    ///
    /// CUDA: `cuda::make_pipeline(block, &shared_state)`.
    #[inline(always)]
    pub fn pipeline<const THREADS: usize>(
        self,
        block: &Block<'_, THREADS>,
    ) -> Idle<'s, Unified<Stages<C, COUNT, E, S>, InBlock<THREADS>, P>, COUNT>
    where
        InBlock<THREADS>: Meet<S>,
    {
        let _ = block;
        const { contents::check::<C, E, InBlock<THREADS>, S>(COUNT) };
        // SAFETY: the stages' memory belongs to the pipeline from here on, nothing is in flight there and nobody reads it (0), and
        // it is aligned to 16 bytes (1).
        unsafe { Pipeline::new(self.base()) }
    }
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, const THREADS: usize, P>
    Shared<'s, Private<Stages<C, COUNT, E, WarpScope>, THREADS>, P>
{
    /// Runs `body` once in every warp with a pipeline of the warp's own, and keeps the result for each of the warp's threads. Warps
    /// run at their own pace, without a barrier of the block.
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
    ) -> (PerThread<'b, T, THREADS>, Retired<'s, Private<Stages<C, COUNT, E, WarpScope>, THREADS>, P>)
    where
        T: PerThreadValue,
        F: for<'w> Fn(Warp<'w, 'b, THREADS>, WarpPipeline<'w, C, COUNT, E, THREADS, P>) -> T + Uniform,
    {
        const { contents::check::<C, E, InWarp<THREADS>, WarpScope>(COUNT) };
        let base = self.base();
        let results = block.map_warps_of(|warp| {
            // SAFETY: each ring starts one stage of its own behind the one before, within the first of all rings' stages, in the
            // memory that belongs to them (0); a stage is aligned as its contents need, since it starts at a multiple of
            // their size (`Contents::BYTES`). Each warp makes one pipeline.
            let pipe = unsafe { Pipeline::new(base.add(warp.rank() * C::BYTES)) };
            let result = body(warp, pipe);
            isa::cp_async_wait_all();
            result
        });
        (results, Retired { offset: self.offset, brand: PhantomData, level: PhantomData, layout: PhantomData })
    }
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, const THREADS: usize, P>
    Shared<'s, Private<Stages<C, COUNT, E, ThreadScope>, THREADS>, P>
{
    /// Runs `body` once in every thread with a pipeline of the thread's own, and keeps each thread's result for it. Threads run at
    /// their own pace; there is no barrier.
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
    /// use tilepipe::{Block, CpAsync, Private, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};
    ///
    /// type Pieces = Private<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 32>;
    ///
    /// /// Thread `r` adds up the pieces `r`, `r + 32`, .. of four elements each.
    /// #[kernel]
    /// pub fn sums_of_pieces(block: Block<32>, input: Tiles<i32, 4>, mut out: TilesMut<i32, 32>, shared: Shared<Pieces>) {
    ///     let (sums, _) = shared.threads(&block, |t, pipe| {
    ///         let (first, mut sum) = (t.rank(), 0);
    ///         let pieces = input.tiles().saturating_sub(first).div_ceil(32); // not the same for all threads
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
    ) -> (PerThread<'b, T, THREADS>, Retired<'s, Private<Stages<C, COUNT, E, ThreadScope>, THREADS>, P>)
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'b, THREADS>, ThreadPipeline<'t, C, COUNT, E, THREADS, P>) -> T + Uniform,
    {
        const { contents::check::<C, E, InThread<THREADS>, ThreadScope>(COUNT) };
        let base = self.base();
        let results = block.map_of(|thread| {
            // SAFETY: as in `warps`, with threads for warps.
            let pipe = unsafe { Pipeline::new(base.add(thread.rank() * C::BYTES)) };
            let result = body(thread, pipe);
            isa::cp_async_wait_all();
            result
        });
        (results, Retired { offset: self.offset, brand: PhantomData, level: PhantomData, layout: PhantomData })
    }
}

/// The pipeline of one warp, made by [`Shared::warps`].
pub type WarpPipeline<'w, C, const COUNT: usize, E, const THREADS: usize, P> =
    Idle<'w, Unified<Private<Stages<C, COUNT, E, WarpScope>, THREADS>, InWarp<THREADS>, P>, COUNT>;

/// The pipeline of one thread, made by [`Shared::threads`].
pub type ThreadPipeline<'t, C, const COUNT: usize, E, const THREADS: usize, P> =
    Idle<'t, Unified<Private<Stages<C, COUNT, E, ThreadScope>, THREADS>, InThread<THREADS>, P>, COUNT>;

/// Shared memory whose pipelines have ended, though slower threads may still be reading it.
///
/// # Invariants
///
/// 0. The memory `offset` bytes into the block's belongs to this value alone, and no copy into it is under way.
#[must_use = "its memory is lost for other uses: call `reclaim`, or drop it with `let _ =` at the end of a kernel"]
pub struct Retired<'s, L, P = Whole> {
    offset: usize,
    brand: Brand<'s>,
    level: BlockLevel,
    layout: PhantomData<(L, P)>,
}

impl<L, P> !Uniform for Retired<'_, L, P> {}

impl<'s, L: Layout, P> Retired<'s, L, P> {
    /// Waits for all threads of the block and gives the memory back, to be used again. PTX: `bar.sync`.
    pub fn reclaim<const THREADS: usize>(self, block: &Block<'_, THREADS>) -> Shared<'s, L, P> {
        block.sync();
        // SAFETY: (0) is the value's own invariant, and behind the barrier no thread reads it any more; (1) it was a `Shared`.
        unsafe { Shared::new(self.offset) }
    }
}

/// The setup of a pipeline of the block's.
impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Meet<S>, P> Setup
    for Unified<Stages<C, COUNT, E, S>, G, P>
{
    type Contents = C;
    type Engine = E;
    type Scope = S;
    type Group = G;
    type Reach = G::Reach;
    type Layout = Stages<C, COUNT, E, S>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Stages::<C, COUNT, E, S>::STRIDE;
}

/// The setup of a pipeline of a warp's or a thread's own.
impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Meet<S>, P, const THREADS: usize> Setup
    for Unified<Private<Stages<C, COUNT, E, S>, THREADS>, G, P>
where
    Private<Stages<C, COUNT, E, S>, THREADS>: Layout,
{
    type Contents = C;
    type Engine = E;
    type Scope = S;
    type Group = G;
    type Reach = G::Reach;
    type Layout = Private<Stages<C, COUNT, E, S>, THREADS>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Private::<Stages<C, COUNT, E, S>, THREADS>::stride(THREADS / G::THREADS);
}
