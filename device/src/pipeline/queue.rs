//! A queue of single copies: a pipeline whose `acquire`, `copy` and `commit` are one step.

use super::count::{AcquireFrom, Decrement, Dirty, Free, Held, InFlight, Increment, Releases, Waits};
use super::count::{NothingHeld, SomeFree, SomeInFlight, StageLeft, TileHeld};
use super::ready::Ready;
use super::setup::{Setup, Unified};
use super::steps::{Idle, Pipeline};
use super::view::{AtScope, View};
use crate::engine::{Anywhere, ByHand, Engine, StepsIn};
use crate::group::InBlock;
use crate::group::block::Block;
use crate::isa::PendingGroups;
use crate::memory::{Position, Shared};
use crate::scope::BlockScope;
use crate::stage::contents::{Contents, Fill};
use crate::stage::stages::Stages;

/// Copies that were started one after the other. A wait is for the oldest. The type counts the
/// copies, so that each wait names the right number.
///
/// A [`Pipeline`] whose stages are acquired, filled and committed in one step.
///
/// CUDA: `cooperative_groups::memcpy_async` and `wait_prior<N>`, where a wrong `N` reads data that
/// has not landed.
#[must_use = "copies under way can't be read: call `wait_prior`"]
pub struct CopyQueue<'s, U: Setup, F, I, H, D> {
    pipeline: Pipeline<'s, U, F, I, H, D>,
}

/// A queue without copies.
pub type EmptyQueue<'s, U, const COUNT: usize> = CopyQueue<'s, U, Free<COUNT>, InFlight<0>, Held<0>, Dirty<0>>;

impl<'s, C: Contents, const COUNT: usize, E: Engine, P: Position<Place = Anywhere>>
    Shared<'s, Stages<C, COUNT, E, BlockScope>, P>
{
    /// Makes a queue of up to `COUNT` copies in flight. It lowers to nothing.
    #[inline(always)]
    pub fn queue<'b, const THREADS: usize>(
        self,
        block: &Block<'b, THREADS>,
    ) -> EmptyQueue<'s, Unified<Stages<C, COUNT, E, BlockScope>, InBlock<'b, THREADS>, P>, COUNT>
    where
        E: ByHand,
    {
        CopyQueue::of(self.pipeline(block))
    }
}

impl<'s, U: Setup, const COUNT: usize> EmptyQueue<'s, U, COUNT> {
    fn of(pipeline: Idle<'s, U, COUNT>) -> Self {
        CopyQueue { pipeline }
    }
}

impl<'s, U: Setup, F, I, H, D> CopyQueue<'s, U, F, I, H, D> {
    /// Starts one more copy.
    ///
    /// If the only memory left is memory that slower threads may still be reading, it waits for
    /// them first. PTX: perhaps `bar.sync`; `cp.async`, `cp.async.commit_group`.
    ///
    /// CUDA: `cooperative_groups::memcpy_async`.
    #[inline(always)]
    pub fn copy(
        self,
        source: impl Fill<U::Contents>,
    ) -> CopyQueue<'s, U, <(F, D) as AcquireFrom>::Free, I::More, H, <(F, D) as AcquireFrom>::Dirty>
    where
        (F, D): AcquireFrom + StageLeft,
        I: Increment,
        U::Engine: StepsIn<U::Place>,
    {
        CopyQueue { pipeline: self.pipeline.acquire().copy(source).commit() }
    }

    /// Waits for the oldest copy; the younger ones stay in flight.
    ///
    /// PTX: `cp.async.wait_group I - 1`, `bar.sync`.
    ///
    /// CUDA: `cooperative_groups::wait_prior<I - 1>(block)`.
    #[inline(always)]
    pub fn wait_prior(
        self,
    ) -> (
        CopyQueue<
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
        let (pipeline, tile) = self.pipeline.wait();
        (CopyQueue { pipeline }, tile)
    }

    /// Gives the tile's memory back. PTX: nothing.
    #[inline(always)]
    pub fn release(
        self,
        tile: Ready<'s, U>,
    ) -> CopyQueue<
        's,
        U,
        <U::Scope as Releases<AtScope, F, D>>::Free,
        I,
        H::Less,
        <U::Scope as Releases<AtScope, F, D>>::Dirty,
    >
    where
        H: Decrement + TileHeld,
        U::Scope: Releases<AtScope, F, D>,
    {
        CopyQueue { pipeline: self.pipeline.release(tile) }
    }

    /// Counts free memory as memory that may still be read: to enter a loop whose state has some.
    #[inline(always)]
    pub fn weaken(self) -> CopyQueue<'s, U, F::Less, I, H, D::More>
    where
        F: Decrement + SomeFree,
        D: Increment,
    {
        CopyQueue { pipeline: self.pipeline.weaken() }
    }
}
