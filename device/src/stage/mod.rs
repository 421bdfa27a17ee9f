//! The stages of pipelines, unified or between roles: what one holds, what it is filled from, what
//! is remembered of that, and the values that stand for a stage while it is filled and read.

pub(crate) mod batches;
mod boxes;
pub(crate) mod contents;
mod filling;
mod landed;
pub(crate) mod nth;
pub(crate) mod presence;
pub(crate) mod ring;
pub(crate) mod stages;

use crate::engine::Engine;
use crate::group::Deal;
use crate::memory::Layout;
use crate::scope::Scope;
use contents::Contents;

pub(crate) use filling::Arrival;
pub use filling::{Stage, StageFilled};
pub(crate) use landed::LandedStage;

/// The stages of one pipeline, and who fills them. Nobody outside this crate can name it, so nobody
/// else can implement it.
pub trait StageSet {
    /// What a stage holds.
    type Contents: Contents;
    /// What fills it.
    type Engine: Engine;
    /// The scope at which the group shares out its copies.
    type Scope: Scope;
    /// The threads that fill it together.
    type Group: Deal<Self::Scope>;
    /// The layout in shared memory.
    type Layout: Layout;
    /// The position there.
    type Position;
    /// The number of stages.
    const COUNT: usize;
    /// Bytes from one stage's start to the next one's.
    const STRIDE: usize;
}

/// The bytes of a stage.
pub(crate) const fn bytes<K: StageSet>() -> usize {
    <K::Contents as contents::sealed::Contents>::BYTES
}

/// What is remembered of how a stage was filled.
pub(crate) type PresenceOf<K> = <<K as StageSet>::Contents as contents::sealed::Contents>::Presence;
