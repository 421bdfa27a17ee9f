//! What a pipeline is made of.

use core::marker::PhantomData;

use super::steps::{Idle, Pipeline};
use crate::engine::Engine;
use crate::group::block::Block;
use crate::group::{InBlock, Synchronise};
use crate::memory::{Shared, Whole};
use crate::scope::Scope;
use crate::stage::StageSet;
use crate::stage::contents::{self, Contents};
use crate::stage::stages::Stages;

/// What a pipeline is made of: its stages `L`, the group `G` that runs it, and its position `P` in
/// shared memory.
pub struct Unified<L, G, P = Whole>(PhantomData<(L, G, P)>);

/// The parts of a unified pipeline's setup, beside those of its stages. Sealed: implemented by
/// [`Unified`].
pub trait Setup: StageSet<Group: Synchronise<<Self as StageSet>::Scope>> + sealed::Sealed {
    /// What of a tile its reader may read.
    type Reach;
    /// The scope whose barrier a wait has, and with it the dirty stages that a wait frees: the
    /// pipeline's own, for an engine whose completion does not say by itself when other threads'
    /// copies have landed.
    type Wait;
}

mod sealed {
    pub trait Sealed {}
}

impl<L, G, P> sealed::Sealed for Unified<L, G, P> {}

impl<'s, C: Contents, const COUNT: usize, E: Engine, S: Scope, P> Shared<'s, Stages<C, COUNT, E, S>, P> {
    /// Makes a pipeline of these stages, all of them free.
    ///
    /// It lowers to nothing: a unified pipeline has no state in memory. A tile that the engine
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
    {
        let _ = block;
        const { contents::check::<C, E, InBlock<'b, THREADS>, S>(COUNT) };
        // SAFETY: the stages' memory belongs to the pipeline from here on, nothing is in flight
        // there and nobody reads it (0), and it is aligned to 16 bytes (1).
        unsafe { Pipeline::new(self.base()) }
    }
}

/// The stages of a pipeline of the block's.
impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P> StageSet
    for Unified<Stages<C, COUNT, E, S>, G, P>
{
    type Contents = C;
    type Engine = E;
    type Scope = S;
    type Group = G;
    type Layout = Stages<C, COUNT, E, S>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Stages::<C, COUNT, E, S>::STRIDE;
}

impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P> Setup
    for Unified<Stages<C, COUNT, E, S>, G, P>
{
    type Reach = G::Reach;
    type Wait = S;
}
