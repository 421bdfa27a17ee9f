//! A pipeline between two roles in shared memory: its stages, its barriers, and who takes part.

use core::marker::PhantomData;

use super::map::{InRole, Role};
use crate::barrier::{Handover, control_bytes};
use crate::engine::Engine;
use crate::isa::Members;
use crate::memory::Layout;
use crate::scope::BlockScope;
use crate::stage::StageSet;
use crate::stage::contents::Contents;
use crate::stage::stages::{Stages, checked_bytes};

/// The shared memory of a pipeline between two roles: its [`Stages`], and after them their
/// barriers.
///
/// 28 bytes per stage and 32 more, rounded up to 16, beside the tiles (80 of a single stage): two
/// mbarriers of 8 bytes per stage, one for the decisions of each end, and words that say whether a
/// stage was passed closed or empty, or does not come.
///
/// CUDA: `cuda::pipeline_shared_state<cuda::thread_scope_block, COUNT>` and the buffer beside it.
pub struct Partitioned<L>(PhantomData<L>);

// SAFETY: the alignment is that of the stages, at least 16, and BYTES a multiple of it; stages and
// control words are what a pipeline touches.
unsafe impl<C: Contents, const COUNT: usize, E: Engine> Layout for Partitioned<Stages<C, COUNT, E, BlockScope>> {
    const BYTES: usize = (checked_bytes(COUNT, Stages::<C, COUNT, E, BlockScope>::STRIDE) + control_bytes(COUNT))
        .next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = Stages::<C, COUNT, E, BlockScope>::ALIGNMENT;
    const STORES: bool = false;
}

/// What a pipeline between roles is made of: its stages `L`, the role that fills them, the role
/// that reads them, and its position `P` in shared memory.
pub struct Between<L, From, To, P>(PhantomData<(L, From, To, P)>);

/// The parts of a [`Between`], beside those of its stages. Sealed.
pub trait Channel: Handover + sealed::Sealed {
    /// Who fills the stages.
    type From: Role;
    /// Who reads them.
    type To: Role;
}

impl<C: Contents, const COUNT: usize, E: Engine, From: Role, To: Role, P> StageSet
    for Between<Stages<C, COUNT, E, BlockScope>, From, To, P>
{
    type Contents = C;
    type Engine = E;
    type Scope = BlockScope;
    type Group = InRole<From>;
    type Layout = Partitioned<Stages<C, COUNT, E, BlockScope>>;
    type Position = P;
    const COUNT: usize = COUNT;
    const STRIDE: usize = Stages::<C, COUNT, E, BlockScope>::STRIDE;
}

impl<C: Contents, const COUNT: usize, E: Engine, From: Role, To: Role, P> Handover
    for Between<Stages<C, COUNT, E, BlockScope>, From, To, P>
{
    const PRODUCERS: Members = From::MEMBERS;
    const CONSUMERS: Members = To::MEMBERS;
    const APART: bool = To::APART;
}

impl<C: Contents, const COUNT: usize, E: Engine, From: Role, To: Role, P> Channel
    for Between<Stages<C, COUNT, E, BlockScope>, From, To, P>
{
    type From = From;
    type To = To;
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no channel between roles: `Channel` is sealed",
        label = "not a `Between`",
        note = "a pipeline's barriers count the threads of the roles that its channel names: `Between<Stages<..>, From, To, P>` is the only one"
    )]
    pub trait Sealed {}
    impl<L, From, To, P> Sealed for super::Between<L, From, To, P> {}
}
