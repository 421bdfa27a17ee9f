//! The steps by hand: `acquire`, `copy`, `commit`, `wait`, `release`, `weaken`, `finish`.

mod computed;

use core::convert::Infallible;
use core::marker::PhantomData;

use super::count::{AcquireFrom, Decrement, Dirty, Free, Held, InFlight, Increment, Launder, Releases, Waits};
use super::count::{NothingHeld, SomeFree, SomeInFlight, StageAcquired, StageIsFilled, StageLeft, TileHeld};
use super::ready::Ready;
use super::setup::{Setup, Unified};
use super::view::{Published, View};
use crate::barrier::Landings;
use crate::engine::{Anywhere, Completion, CompletionOf, Engine, StepsIn};
use crate::group::block::Block;
use crate::group::{InBlock, Synchronise, WholeBlock};
use crate::isa::{self, PendingGroups};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::{Position, Shared};
use crate::scope::{Scope, ThreadsAlone};
use crate::stage::contents::{self, Contents, Fill};
use crate::stage::ring::{Fills, Ring, Slot};
use crate::stage::stages::Stages;
use crate::stage::{self, Arrival, Stage};

pub use computed::ComputedBy;

/// A unified pipeline in the state that its type counts: `F` free, `I` in flight, `H` held and `D`
/// dirty stages.
///
/// Made by [`Shared::pipeline`](crate::Shared::pipeline) for the block, by
/// [`Shared::warps`](crate::Shared::warps) for a warp, and by
/// [`Shared::threads`](crate::Shared::threads) for a thread. Every step is for the whole group, in
/// code of its level.
///
/// CUDA: `cuda::pipeline<scope>`, unified.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// Adds two tiles, the first one from back to front.
/// #[kernel]
/// pub fn fold(
///     block: Block<64>,
///     input: Tiles<u32, 64>,
///     mut out: TilesMut<u32, 64>,
///     shared: Shared<Stages<[u32; 64], 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let pipe = shared.pipeline(&block); // Free<2>
///     let pipe = pipe.acquire().copy(tiles.get(0)).commit(); // Free<1>, InFlight<1>
///     let pipe = pipe.acquire().copy(tiles.get(1)).commit(); // InFlight<2>
///     let (pipe, tile) = pipe.wait(); // InFlight<1>, Held<1>
///     let first = block.map(|t| tile[63 - t.rank()]);
///     let (pipe, tile) = pipe.release(tile).wait(); // Free<1>, Held<1>
///     let result = results.get_mut(0);
///     block.threads(|t| result.set(&t, first.get(&t) + tile[t.rank()]));
///     let _ = pipe.release(tile);
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 6 });
/// # let (input, mut out) = (device.upload(&Vec::from_iter(0..128))?, device.zeroed(64)?);
/// # fold::launch(&device.stream()?, 1, &input, &mut out)?;
/// # assert_eq!(out.download()?, [127; 64]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. The ring's stages belong to this pipeline. In the order of the ring, from the oldest: `H`
///    stages held by a [`Ready`] tile of this brand, then `I` stages in flight, each of them one
///    committed group younger than the one before. All others, `F + D`, are read by nobody except
///    by threads that have not passed a barrier since they released one of `D`, and the `D` are the
///    youngest of them. (At thread scope an unpublished tile's own thread alone read it, so its
///    stage counts as free.)
/// 1. `F + I + H + D` is the number of stages, minus those of guards that were dropped or
///    forgotten.
#[must_use = "a pipeline in mid-state: call its next step, or `finish` to get its memory back"]
pub struct Pipeline<'s, U: Setup, F, I, H, D> {
    pub(super) ring: Ring<U>,
    brand: Brand<'s>,
    level: BlockLevel,
    state: PhantomData<(F, I, H, D)>,
}

/// A pipeline of `COUNT` stages that are all free.
pub type Idle<'s, U, const COUNT: usize> = Pipeline<'s, U, Free<COUNT>, InFlight<0>, Held<0>, Dirty<0>>;

/// A pipeline with one stage acquired, to be filled by [`copy`](Self::copy).
#[must_use = "an acquired stage is to be filled: call `copy`"]
pub struct Acquired<'s, U: Setup, F, I, H, D> {
    pipeline: Pipeline<'s, U, F, I, H, D>,
    stage: Stage<'s, U>,
    slot: Slot,
}

/// A pipeline with one stage filled, to be closed by [`commit`](Self::commit).
#[must_use = "a filled stage is to be committed: call `commit`"]
pub struct Filled<'s, U: Setup, F, I, H, D> {
    pipeline: Pipeline<'s, U, F, I, H, D>,
}

impl<U: Setup, F, I, H, D> !Uniform for Pipeline<'_, U, F, I, H, D> {}
impl<U: Setup, F, I, H, D> !Uniform for Acquired<'_, U, F, I, H, D> {}
impl<U: Setup, F, I, H, D> !Uniform for Filled<'_, U, F, I, H, D> {}

impl<U: Setup, const COUNT: usize> Idle<'_, U, COUNT> {
    /// Makes a pipeline of the stages at `base`, all free.
    ///
    /// # Safety
    ///
    /// `U::COUNT == COUNT` stages, `U::STRIDE` bytes apart from `base` on, in shared memory and
    /// aligned as their contents need, belong to the caller alone, no thread reads them and no copy
    /// into them is in flight. Where copies complete by bytes, so do the mbarriers from byte
    /// `barriers` of the block's shared memory on, which were just made ([`Landings::enter`]).
    /// `frame` is null, or valid for writes while the pipeline exists.
    #[inline(always)]
    pub(crate) unsafe fn new(base: *mut u8, barriers: usize, frame: *mut Fills) -> Self {
        const { assert!(U::COUNT == COUNT) };
        // SAFETY: the caller's promise.
        let ring = unsafe { Ring::new(base, barriers, frame) };
        Pipeline { ring, brand: PhantomData, level: PhantomData, state: PhantomData }
    }
}

impl<'s, L, G, P, const COUNT: usize> Idle<'s, Unified<L, G, P>, COUNT>
where
    Unified<L, G, P>: Setup,
{
    /// Returns the same pipeline with every tile published: each thread copies its own elements,
    /// and once a tile was waited for all threads of the block may read all of it. Its steps and
    /// its drivers have the barriers of block scope. PTX: nothing.
    ///
    /// CUDA: `with_staging_scope_thread` of the programming guide, with the barrier that is missing
    /// there.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};
    ///
    /// #[kernel]
    /// pub fn neighbour(
    ///     block: Block<32>,
    ///     input: Tiles<i32, 32>,
    ///     mut out: TilesMut<i32, 32>,
    ///     shared: Shared<Stages<[i32; 32], 2, CpAsync, ThreadScope>>,
    /// ) {
    ///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    ///     let pipeline = shared.pipeline(&block).published();
    ///     let _ = pipeline.map_tiles(&tiles, &mut results, |tile, dst| {
    ///         block.threads(|t| dst.set(&t, tile[(t.rank() + 1) % 32]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 2 });
    /// # let input = device.upload(&(0..64).collect::<Vec<i32>>())?;
    /// # let mut out = device.zeroed(64)?;
    /// # neighbour::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?[30..34], [31, 0, 33, 34]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn published(self) -> Idle<'s, Unified<L, G, P, Published>, COUNT>
    where
        Unified<L, G, P>: Setup<Scope: ThreadsAlone, Group: WholeBlock>,
        Unified<L, G, P, Published>: Setup,
    {
        // SAFETY: the same stages, which this pipeline gives up. All are free, so none of them is
        // being read and no copy into them is in flight.
        unsafe { Pipeline::new(self.ring.base(), self.ring.barriers(), core::ptr::null_mut()) }
    }
}

impl<'s, C: Contents, const COUNT: usize, E: Engine, S: Scope, P> Shared<'s, Stages<C, COUNT, E, S>, P> {
    /// Makes a pipeline of these stages, all of them free.
    ///
    /// It lowers to nothing: a unified pipeline has no state in memory. One of
    /// [`Bulk`](crate::Bulk) has an mbarrier a stage there, which a thread makes (PTX
    /// `mbarrier.init`, fences, `bar.sync`); it is for the drivers, and
    /// [`with_pipeline`](Self::with_pipeline) is for its steps by hand. A tile that the engine
    /// can't copy, or that the scope can't share out, does not compile.
    ///
    /// CUDA: `cuda::make_pipeline(block, &shared_state)`.
    #[inline(always)]
    pub fn pipeline<'b, const THREADS: usize>(
        self,
        block: &Block<'b, THREADS>,
    ) -> Idle<'s, Unified<Stages<C, COUNT, E, S>, InBlock<'b, THREADS>, P>, COUNT>
    where
        InBlock<'b, THREADS>: Synchronise<S>,
        P: Position,
    {
        let _ = block;
        const { contents::check::<C, E, InBlock<'b, THREADS>, S>(COUNT) };
        let barriers = self.offset() + COUNT * Stages::<C, COUNT, E, S>::STRIDE;
        // SAFETY: the mbarriers lie behind the stages (`Layout`), and all of that memory is the
        // pipeline's from here on (0). Block-level code is converged (R2).
        let _ = unsafe { Landings::<E, InBlock<'b, THREADS>, S>::enter(barriers, COUNT) };
        // SAFETY: the stages' memory belongs to the pipeline from here on, nothing is in flight
        // there and nobody reads it (0), and it is aligned to 16 bytes (1). The mbarriers were just
        // made.
        unsafe { Pipeline::new(self.base(), barriers, core::ptr::null_mut()) }
    }
}

impl<'s, U: Setup, F, I, H, D> Pipeline<'s, U, F, I, H, D> {
    /// Acquires the next stage to fill.
    ///
    /// It needs a free stage or a dirty one, and for a dirty one it synchronises first. PTX:
    /// nothing, or one `bar.sync` (in a pipeline at warp scope one `bar.warp.sync`, in a thread's
    /// own pipeline nothing).
    ///
    /// CUDA: `producer_acquire`.
    #[inline(always)]
    pub fn acquire(mut self) -> Acquired<'s, U, <(F, D) as AcquireFrom>::Free, I, H, <(F, D) as AcquireFrom>::Dirty>
    where
        (F, D): AcquireFrom + StageLeft,
        U::Engine: StepsIn<U::Place>,
    {
        if <(F, D) as AcquireFrom>::BARRIER {
            // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code is
            // converged.
            unsafe { CompletionOf::<U::Engine>::launder::<U::Group, U::Scope>() };
        }
        let (memory, landing, slot) = self.ring.next_to_fill();
        // SAFETY: the ring's head is the one of the F + D stages that was released longest ago. If
        // F > 0 it is one of the free ones, which nobody else reads (invariant 0 of the pipeline);
        // if not, every thread that may have read it has passed the barrier above. The arrival of
        // `copy` follows; a stage that was acquired and not filled loses the pipeline.
        let stage = unsafe { Stage::new(memory, landing, Arrival::WithCopies) };
        Acquired { pipeline: self.into_state(), stage, slot }
    }

    /// Waits for the oldest stage in flight and returns its tile, readable as far as the scope
    /// goes.
    ///
    /// Its barrier, if the scope has one, also frees all dirty stages. Nothing may be held. PTX:
    /// `cp.async.wait_group I - 1`, then at block scope `bar.sync`, at warp scope `bar.warp.sync`,
    /// at thread scope nothing. With [`Bulk`](crate::Bulk): `mbarrier.try_wait.parity` on the
    /// stage's mbarrier, and a fence and that barrier only if a stage is dirty.
    ///
    /// CUDA: `consumer_wait`.
    #[inline(always)]
    pub fn wait(
        mut self,
    ) -> (
        Pipeline<
            's,
            U,
            <<U::View as View<U>>::Wait as Waits<F, D>>::Free,
            I::Less,
            Held<1>,
            <<U::View as View<U>>::Wait as Waits<F, D>>::Dirty,
        >,
        Ready<'s, U, U::View>,
    )
    where
        I: Decrement + PendingGroups + SomeInFlight,
        H: NothingHeld,
        <U::View as View<U>>::Wait: Waits<F, D>,
    {
        // SAFETY: a pipeline exists only where its group runs as one (R2); block-level code is
        // converged.
        unsafe { wait::<U, I>(&self.ring, <<U::View as View<U>>::Wait as Waits<F, D>>::FREES) };
        let (tile, present) = self.ring.next_to_read();
        // SAFETY: nothing is held, so the ring's tail is the oldest of the I stages in flight
        // (invariant 0); I - 1 groups of this pipeline are younger, and perhaps more of others. So
        // its group has landed in every thread, and the scope's barrier has made it visible to the
        // scope. It is written again only after `release` takes the tile.
        let ready = unsafe { Ready::new(tile, present) };
        (self.into_state(), ready)
    }

    /// Gives the held tile back. PTX: nothing.
    ///
    /// Its stage is dirty until the next barrier, since slower threads may still be reading it; at
    /// thread scope, where nobody else reads it, it is free at once, unless an older stage is
    /// dirty.
    ///
    /// CUDA: `consumer_release`.
    #[inline(always)]
    pub fn release<V: View<U>>(
        self,
        tile: Ready<'s, U, V>,
    ) -> Pipeline<'s, U, <U::Scope as Releases<V, F, D>>::Free, I, H::Less, <U::Scope as Releases<V, F, D>>::Dirty>
    where
        H: Decrement + TileHeld,
        U::Scope: Releases<V, F, D>,
    {
        // SAFETY: the tile is a stage of this pipeline, whose contents have this number of bytes;
        // `tile`, its only guard, is given up, and the stage is dirty until the view's next barrier
        // (invariant 0), or its own thread alone has read it.
        unsafe { V::released(tile.memory(), stage::bytes::<U>()) };
        self.into_state()
    }

    /// Counts a free stage as dirty: to enter a loop whose state has a dirty one. PTX: nothing.
    #[inline(always)]
    pub fn weaken(self) -> Pipeline<'s, U, F::Less, I, H, D::More>
    where
        F: Decrement + SomeFree,
        D: Increment,
    {
        self.into_state()
    }

    /// Ends the pipeline: waits for all its copies and all threads, and gives its memory back.
    ///
    /// PTX: `cp.async.wait_all`, `bar.sync`. At the end of a kernel it is not needed: a pipeline
    /// may be dropped in any state, and then its memory is not used again.
    ///
    /// CUDA: the destructor of `cuda::pipeline`.
    pub fn finish(self) -> Shared<'s, U::Layout, U::Position>
    where
        H: NothingHeld,
        U::Group: WholeBlock,
        U::Place: GivesBack,
    {
        CompletionOf::<U::Engine>::drain();
        self.give_back()
    }

    /// As [`finish`](Self::finish) for a pipeline that has nothing in flight.
    #[inline(always)]
    pub(crate) fn give_back(self) -> Shared<'s, U::Layout, U::Position>
    where
        H: NothingHeld,
        U::Group: WholeBlock,
        U::Place: GivesBack,
    {
        // SAFETY: the ring's mbarriers are this pipeline's, made for its number of stages, and
        // valid.
        let landings = unsafe { Landings::<U::Engine, U::Group, U::Scope>::at(self.ring.barriers(), U::COUNT) };
        // SAFETY: all copies have landed: with an engine that completes by bytes only the drivers
        // take steps here (`StepsIn`), which read all that they fill. The pipeline is given up.
        unsafe { landings.leave() };
        // SAFETY: this pipeline is the block's, so it exists in block-level code only (R2), which
        // is converged.
        unsafe { isa::barrier() };
        // SAFETY: `Shared::pipeline` made the ring's base from this pointer.
        let offset = unsafe { self.ring.base().offset_from(isa::shared_base()) };
        // SAFETY: the memory that `Shared::pipeline` took: every copy into it has landed, and every
        // thread has passed the barrier after its last read, since no tile is held: the only guards
        // of this brand are those counted by H, and one that was dropped or forgotten while held
        // leaves H at 1.
        unsafe { Shared::new(offset as usize) }
    }

    /// Hands the held tile to the whole block. Before, each thread may read its own elements;
    /// after, all threads may read all of it. PTX: `bar.sync`.
    ///
    /// The barrier also frees all dirty stages. Released, a published tile is dirty, so that the
    /// next `acquire` that needs its stage waits for the block first.
    ///
    /// CUDA: the `block.sync()` after `consumer_wait` of a thread-scope pipeline, together with the
    /// second one that the programming guide omits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};
    ///
    /// #[kernel]
    /// pub fn neighbour(
    ///     block: Block<32>,
    ///     input: Tiles<i32, 32>,
    ///     mut out: TilesMut<i32, 32>,
    ///     shared: Shared<Stages<[i32; 32], 2, CpAsync, ThreadScope>>,
    /// ) {
    ///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    ///     let mut pipe = shared.pipeline(&block).weaken().weaken();
    ///     for i in 0..tiles.len() {
    ///         // Each thread may read its own element,
    ///         let (p, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
    ///         // and now all of them.
    ///         let (p, tile) = p.publish(tile);
    ///         let dst = results.get_mut(i);
    ///         block.threads(|t| dst.set(&t, tile[(t.rank() + 1) % 32]));
    ///         pipe = p.release(tile).weaken(); // dirty: the next `acquire` waits for the block
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 2 });
    /// # let input = device.upload(&(0..64).collect::<Vec<i32>>())?;
    /// # let mut out = device.zeroed(64)?;
    /// # neighbour::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?[30..34], [31, 0, 33, 34]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn publish(
        self,
        tile: Ready<'s, U>,
    ) -> (Pipeline<'s, U, <(F, D) as Launder>::Free, I, H, Dirty<0>>, Ready<'s, U, Published>)
    where
        U::Scope: ThreadsAlone,
        U::Group: WholeBlock,
        H: TileHeld,
        (F, D): Launder,
    {
        // SAFETY: this pipeline is the block's, so it exists in block-level code only (R2), which
        // is converged.
        unsafe { isa::barrier() };
        // SAFETY: each thread's own elements had landed before the barrier, so all of the tile has
        // and is visible to the block; it is written again only after `release` takes the tile and
        // a barrier of the block.
        let published = unsafe { Ready::new(tile.memory(), tile.present()) };
        (self.into_state(), published)
    }

    #[inline(always)]
    pub(super) fn into_state<F2, I2, H2, D2>(self) -> Pipeline<'s, U, F2, I2, H2, D2> {
        Pipeline { ring: self.ring, brand: PhantomData, level: PhantomData, state: PhantomData }
    }
}

/// Steps that come too early: they exist to say so, and can't be called.
impl<U: Setup, F, I, H, D> Pipeline<'_, U, F, I, H, D> {
    #[doc(hidden)]
    pub fn copy<X>(self, _: X) -> Infallible
    where
        Self: StageAcquired,
    {
        unreachable!("no pipeline between two steps is `StageAcquired`")
    }

    #[doc(hidden)]
    pub fn commit(self) -> Infallible
    where
        Self: StageIsFilled,
    {
        unreachable!("no pipeline between two steps is `StageIsFilled`")
    }
}

/// As above.
impl<U: Setup, F, I, H, D> Acquired<'_, U, F, I, H, D> {
    #[doc(hidden)]
    pub fn commit(self) -> Infallible
    where
        Self: StageIsFilled,
    {
        unreachable!("no acquired stage is `StageIsFilled`")
    }
}

impl<'s, U: Setup, F, I, H, D> Acquired<'s, U, F, I, H, D> {
    /// Starts to copy a tile, or [`Zeros`](crate::Zeros), into the stage; several tiles as a tuple,
    /// an optional one as an `Option`.
    ///
    /// Bytes of a tile beyond the end of its view are zero. PTX: `cp.async` of 16, 8 or 4 bytes per
    /// thread, as wide as the tile allows.
    ///
    /// CUDA: `cuda::memcpy_async(group, shared, global, size, pipeline)`.
    #[inline(always)]
    pub fn copy<S: Fill<U::Contents>>(mut self, source: S) -> Filled<'s, U, F, I, H, D> {
        let filled = self.stage.copy(source);
        self.pipeline.ring.filled(self.slot, filled.present());
        self.pipeline.ring.note_fills();
        Filled { pipeline: self.pipeline }
    }
}

impl<'s, U: Setup, F, I, H, D> Filled<'s, U, F, I, H, D> {
    /// Commits the stage: it is in flight from here on. PTX: `cp.async.commit_group`.
    ///
    /// CUDA: `producer_commit`.
    #[inline(always)]
    pub fn commit(self) -> Pipeline<'s, U, F, I::More, H, D>
    where
        I: Increment,
    {
        // SAFETY: a filled stage exists only where its group runs as one (R2), and is given up
        // here.
        unsafe { CompletionOf::<U::Engine>::commit() };
        self.pipeline.into_state()
    }
}

/// Waits for all but the youngest `P::GROUPS` groups, then for every thread of the scope: after
/// that, all of them see what they copied for the older groups, and none of them reads a stage that
/// it released before. Where copies complete by bytes, it waits for the oldest stage, and for the
/// threads only if that `frees` a stage.
///
/// # Safety
///
/// All threads of the group make this call; for a block in converged code. A stage is in flight.
#[inline(always)]
unsafe fn wait<U: Setup, P: PendingGroups>(ring: &Ring<U>, frees: bool) {
    let (landing, lap) = ring.next_to_land();
    // SAFETY: the caller's promise; the scope synchronises next, or each thread has waited for the
    // bytes itself.
    unsafe { CompletionOf::<U::Engine>::wait::<P>(landing, lap) };
    if CompletionOf::<U::Engine>::BY_BYTES {
        if frees {
            // SAFETY: the caller's promise.
            unsafe { launder::<U>() };
        }
    } else {
        // SAFETY: the caller's promise.
        unsafe { U::View::synchronise() };
    }
}

/// Waits for all threads that may be reading a released stage; the copies that follow come after
/// their reads.
///
/// # Safety
///
/// All threads of the group make this call; for a block in converged code.
#[inline(always)]
pub(super) unsafe fn launder<U: Setup>() {
    CompletionOf::<U::Engine>::fence();
    // SAFETY: the caller's promise.
    unsafe { U::View::launder() };
}

/// Says that a pipeline's memory is its owner's to give back.
#[diagnostic::on_unimplemented(
    message = "the memory of this pipeline is given back by the function that made it",
    label = "drop the pipeline: that function waits for its copies",
    note = "`let (result, shared) = shared.with_pipeline(&block, |pipe| ..);` returns the memory; that of `warps` and `threads` comes \
            back from `Retired::reclaim`"
)]
pub trait GivesBack {}
impl GivesBack for Anywhere {}
