//! What a pipeline is made of.

use core::marker::PhantomData;

#[cfg(doc)]
use super::view::Published;
use super::view::{AtScope, View};
use crate::engine::Engine;
use crate::group::Synchronise;
use crate::memory::{Position, Whole};
use crate::scope::Scope;
use crate::stage::StageSet;
use crate::stage::contents::Contents;
use crate::stage::stages::Stages;

/// What a pipeline is made of: its stages `L`, the group `G` that runs it, its position `P` in
/// shared memory, and the view `V` of a tile that a wait gives, [`AtScope`] or [`Published`].
pub struct Unified<L, G, P = Whole, V = AtScope>(PhantomData<(L, G, P, V)>);

/// The parts of a unified pipeline's setup, beside those of its stages. Sealed: implemented by
/// [`Unified`].
pub trait Setup: StageSet<Group: Synchronise<<Self as StageSet>::Scope>> + sealed::Sealed + Sized {
    /// Which part of a tile its reader may read.
    type Reach;
    /// Which part of a tile a thread may read once it was waited for: what the pipeline's own scope
    /// allows, or the whole tile by the block.
    type View: View<Self>;
    /// Where its steps may be taken by hand: wherever it is, or inside a function that waits for
    /// its copies.
    type Place;
}

mod sealed {
    pub trait Sealed {}
}

impl<L, G, P, V> sealed::Sealed for Unified<L, G, P, V> {}

/// The stages of a pipeline of the block's.
impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P, V> StageSet
    for Unified<Stages<C, COUNT, E, S>, G, P, V>
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

impl<C: Contents, const COUNT: usize, E: Engine, S: Scope, G: Synchronise<S>, P: Position, V: View<Self>> Setup
    for Unified<Stages<C, COUNT, E, S>, G, P, V>
{
    type Reach = G::Reach;
    type View = V;
    type Place = P::Place;
}
