//! What a pipeline is made of.

use core::marker::PhantomData;

use crate::engine::Engine;
use crate::group::Meet;
use crate::memory::shared::{Layout, Whole};
use crate::scope::Scope;
use crate::stage::contents::Contents;

/// What a pipeline is made of: its stages `L`, the group `G` that runs it, and its position `P` in
/// shared memory.
pub struct Unified<L, G, P = Whole>(PhantomData<(L, G, P)>);

/// The parts of a pipeline's setup. Sealed: implemented by [`Unified`].
pub trait Setup: sealed::Sealed {
    /// What a stage holds.
    type Contents: Contents;
    /// What fills it.
    type Engine: Engine;
    /// Whose copies a wait covers.
    type Scope: Scope;
    /// Who takes the steps.
    type Group: Meet<Self::Scope>;
    /// What of a tile its reader may read.
    type Reach;
    /// The stages' layout in shared memory.
    type Layout: Layout;
    /// Their position in the kernel's shared memory.
    type Position;
    /// The number of stages.
    const COUNT: usize;
    /// Bytes from one stage's start to the next one's.
    const STRIDE: usize;
}

mod sealed {
    pub trait Sealed {}
}

impl<L, G, P> sealed::Sealed for Unified<L, G, P> {}
