//! The steps by hand: `acquire`, `copy`, `commit`, `wait`, `release`, `weaken`, `finish`.

use core::convert::Infallible;
use core::marker::PhantomData;

use super::count::{AcquireFrom, Decrement, Dirty, Free, Held, InFlight, Increment, Launder};
use super::count::{NothingHeld, SomeFree, SomeInFlight, StageAcquired, StageIsFilled, StageLeft, TileHeld};
use super::ring::{self, Ring};
use super::stage::{Ready, Stage};
use crate::engine::{Engine, Pending};
use crate::isa;
use crate::scope::Scope;
use crate::shared::{Layout, Shared, Stages, Whole};
use crate::tile::{BlockLevel, Brand, Tile};
use crate::uniform::Uniform;
use crate::view::TileRef;

/// What a pipeline is made of: its stages, the threads that take part, and its position in shared memory.
pub struct Unified<L, const THREADS: usize, P = Whole>(PhantomData<(L, P)>);

/// The parts of a pipeline's setup. Sealed: implemented by [`Unified`].
pub trait Setup: sealed::Sealed {
    /// What a stage holds.
    type Tile: Tile;
    /// What fills it.
    type Engine: Engine;
    /// Who is synchronised.
    type Scope: Scope;
    /// The stages' layout in shared memory.
    type Layout: Layout;
    /// Their position in the kernel's shared memory.
    type Position;
    /// The number of stages.
    const COUNT: usize;
    /// Bytes from one stage's start to the next one's.
    const STRIDE: usize;
    /// The number of threads that copy.
    const THREADS: usize;
}

mod sealed {
    pub trait Sealed {}
}

impl<L, const THREADS: usize, P> sealed::Sealed for Unified<L, THREADS, P> {}

impl<T: Tile, const COUNT: usize, E: Engine, S: Scope, const THREADS: usize, P> Setup
    for Unified<Stages<T, COUNT, E, S>, THREADS, P>
{
    type Tile = T;
    type Engine = E;
    type Scope = S;
    type Layout = Stages<T, COUNT, E, S>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Stages::<T, COUNT, E, S>::STRIDE;
    const THREADS: usize = THREADS;
}

/// A unified pipeline in the state that its type counts: `F` free, `I` in flight, `H` held and `D` dirty stages.
///
/// Made by [`Shared::pipeline`](crate::Shared::pipeline). Every step is for the whole block, in block-level code.
///
/// CUDA: `cuda::pipeline<scope>`, unified.
///
/// # Invariants
///
/// 0. The ring's stages belong to this pipeline. In the order of the ring, from the oldest: `H` stages held by a
///    [`Ready`] tile of this brand, then `I` stages in flight, the younger ones each one committed group younger; all
///    others, `F + D`, are unread but for threads that have not passed a barrier since they released one of `D`.
/// 1. `F + I + H + D` is the number of stages, less those of guards that were dropped or forgotten.
#[must_use = "a pipeline in mid-state: call its next step, or `finish` to get its memory back"]
pub struct Pipeline<'s, U, F, I, H, D> {
    pub(super) ring: Ring<U>,
    brand: Brand<'s>,
    level: BlockLevel,
    state: PhantomData<(F, I, H, D)>,
}

/// A pipeline of `COUNT` stages that are all free.
pub type Idle<'s, U, const COUNT: usize> = Pipeline<'s, U, Free<COUNT>, InFlight<0>, Held<0>, Dirty<0>>;

/// A pipeline with one stage acquired, to be filled by [`copy`](Self::copy).
#[must_use = "an acquired stage is to be filled: call `copy`"]
pub struct Acquired<'s, U, F, I, H, D> {
    pipeline: Pipeline<'s, U, F, I, H, D>,
    stage: Stage<'s, U>,
}

/// A pipeline with one stage filled, to be closed by [`commit`](Self::commit).
#[must_use = "a filled stage is to be committed: call `commit`"]
pub struct Filled<'s, U, F, I, H, D> {
    pipeline: Pipeline<'s, U, F, I, H, D>,
}

impl<U, F, I, H, D> !Uniform for Pipeline<'_, U, F, I, H, D> {}
impl<U, F, I, H, D> !Uniform for Acquired<'_, U, F, I, H, D> {}
impl<U, F, I, H, D> !Uniform for Filled<'_, U, F, I, H, D> {}

impl<U: Setup, const COUNT: usize> Idle<'_, U, COUNT> {
    /// Makes a pipeline of the stages at `base`, all free.
    ///
    /// # Safety
    ///
    /// `U::COUNT == COUNT` stages of `U::STRIDE` bytes from `base` on, in shared memory and aligned to 16 bytes, belong to
    /// the caller alone, no thread reads them and no copy into them is under way.
    #[inline(always)]
    pub(crate) unsafe fn new(base: *mut u8) -> Self {
        const { assert!(U::COUNT == COUNT) };
        // SAFETY: the caller's promise.
        let ring = unsafe { Ring::new(base) };
        Pipeline { ring, brand: PhantomData, level: PhantomData, state: PhantomData }
    }
}

impl<'s, U: Setup, F, I, H, D> Pipeline<'s, U, F, I, H, D> {
    /// Acquires the next stage to fill.
    ///
    /// Needs a free stage, or a dirty one, and then it synchronises first: PTX nothing, or one `bar.sync`.
    ///
    /// CUDA: `producer_acquire`.
    #[inline(always)]
    pub fn acquire(mut self) -> Acquired<'s, U, <(F, D) as AcquireFrom>::Free, I, H, <(F, D) as AcquireFrom>::Dirty>
    where
        (F, D): AcquireFrom + StageLeft,
    {
        if <(F, D) as AcquireFrom>::BARRIER {
            // SAFETY: a pipeline exists in block-level code only (R2), which is converged.
            unsafe { ring::synchronise::<U>() };
        }
        let memory = self.ring.next_to_fill();
        // SAFETY: the ring's head is one of the F + D stages (invariant 0 of the pipeline), and the longest released of
        // them. If F > 0, every thread has passed a barrier since its release; if not, the barrier above.
        let stage = unsafe { Stage::new(memory) };
        Acquired { pipeline: self.into_state(), stage }
    }

    /// Waits for the oldest stage in flight and returns its tile, readable by the whole scope.
    ///
    /// Its barrier also frees all dirty stages. Nothing may be held. PTX: `cp.async.wait_group I - 1`, `bar.sync`.
    ///
    /// CUDA: `consumer_wait`.
    #[inline(always)]
    pub fn wait(mut self) -> (Pipeline<'s, U, <(F, D) as Launder>::Free, I::Less, Held<1>, Dirty<0>>, Ready<'s, U>)
    where
        I: Decrement + Pending + SomeInFlight,
        H: NothingHeld,
        (F, D): Launder,
    {
        // SAFETY: a pipeline exists in block-level code only (R2), which is converged.
        unsafe { ring::wait::<U, I>() };
        let tile = self.ring.next_to_read();
        // SAFETY: nothing is held, so the ring's tail is the oldest of the I stages in flight (invariant 0); I - 1 groups
        // of this pipeline are younger, perhaps more of others, so its group has landed in every thread, and the barrier
        // has made it visible to all. It is written again only after `release` takes the tile.
        let ready = unsafe { Ready::new(tile) };
        (self.into_state(), ready)
    }

    /// Gives the held tile back; its stage is dirty until the next barrier. PTX: nothing.
    ///
    /// CUDA: `consumer_release`.
    #[inline(always)]
    pub fn release(self, tile: Ready<'s, U>) -> Pipeline<'s, U, F, I, H::Less, D::More>
    where
        H: Decrement + TileHeld,
        D: Increment,
    {
        ring::released::<U>(tile.as_ptr());
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
    /// PTX: `cp.async.wait_all`, `bar.sync`. At the end of a kernel there is no need for it: a pipeline may be dropped in
    /// any state, its memory is just not used again.
    ///
    /// CUDA: the destructor of `cuda::pipeline`.
    pub fn finish(self) -> Shared<'s, U::Layout, U::Position>
    where
        H: NothingHeld,
    {
        isa::cp_async_wait_all();
        // SAFETY: a pipeline exists in block-level code only (R2), which is converged.
        unsafe { ring::synchronise::<U>() };
        // SAFETY: `Shared::pipeline` made the ring's base from this pointer.
        let offset = unsafe { self.ring.base().offset_from(isa::shared_base()) };
        // SAFETY: the memory that `Shared::pipeline` took: every copy into it has landed, and every thread has passed the
        // barrier after its last read, since no tile is held: the only guards of this brand are those counted by H, and
        // one that was dropped or forgotten while held leaves H at 1.
        unsafe { Shared::new(offset as usize) }
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
    /// Starts to copy `tile` into the stage. PTX: `cp.async` of 16, 8 or 4 bytes a thread, as wide as the tile allows.
    ///
    /// Bytes of the tile beyond the end of its view are zero.
    ///
    /// CUDA: `cuda::memcpy_async(block, shared, global, size, pipeline)`.
    #[inline(always)]
    pub fn copy(self, tile: TileRef<'_, U::Tile>) -> Filled<'s, U, F, I, H, D> {
        let _filled = self.stage.copy(tile);
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
        ring::commit::<U>();
        self.pipeline.into_state()
    }
}
