//! Shared memory: typed, handed out once, given back when its user is finished.

use core::marker::PhantomData;

use crate::engine::{CpAsync, Engine};
use crate::group::block::Block;
use crate::group::{InBlock, Meet};
use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::pipeline::{Idle, Pipeline, Setup, Unified};
use crate::scope::{BlockScope, Scope};
use crate::stage::contents::{self, Contents};

/// What a kernel keeps in shared memory: [`Stages`], [`Private`](crate::Private) stages, or a pair
/// of layouts.
///
/// # Safety
///
/// `BYTES` is a multiple of `ALIGNMENT`, a power of two of at most 128, and what the layout's user
/// touches lies within `BYTES` bytes of its start.
pub unsafe trait Layout {
    /// The layout's size in bytes.
    const BYTES: usize;
    /// The alignment of its start in bytes.
    const ALIGNMENT: usize;
}

/// The stages of a pipeline: `COUNT` times what `C` says (a tile or several), filled by engine `E`,
/// synchronised at scope `S`.
///
/// CUDA: `cuda::pipeline_shared_state<scope, COUNT>` and the buffer beside it, in one.
pub struct Stages<C, const COUNT: usize, E = CpAsync, S = BlockScope>(PhantomData<(C, E, S)>);

impl<C: Contents, const COUNT: usize, E, S> Stages<C, COUNT, E, S> {
    /// Bytes from one stage's start to the next one's: the contents' size, rounded up to 16.
    pub(crate) const STRIDE: usize = C::BYTES.next_multiple_of(16);
}

/// Refuses no stages, and more than a ring counts.
pub(crate) const fn checked_bytes(count: usize, stride: usize) -> usize {
    assert!(count >= 1, "a pipeline has at least one stage");
    assert!(stride <= u32::MAX as usize / count, "the stages of a pipeline fit in 4 GiB");
    count * stride
}

// SAFETY: 16 is a power of two, STRIDE a multiple of it, and COUNT stages of STRIDE bytes each are
// what a pipeline touches.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, S: Scope> Layout for Stages<C, COUNT, E, S> {
    const BYTES: usize = checked_bytes(COUNT, Self::STRIDE);
    const ALIGNMENT: usize = 16;
}

// SAFETY: the second layout starts at a multiple of its alignment behind the first, and the sum is
// rounded up to the larger alignment; both are powers of two of at most 128.
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
/// A kernel takes at most one, as its last parameter; the launch reserves what the type says. `'s`
/// and the position `P` tell every piece apart by type, so that a tile of one pipeline can't be
/// released into another.
///
/// CUDA: `extern __shared__`.
///
/// # Invariants
///
/// 0. `L::BYTES` bytes of the block's shared memory from byte `offset` on belong to this value
///    alone, no copy into them is under way, and no thread reads them.
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

    /// Where the memory starts, in bytes from the start of the block's.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The address of the memory's first byte.
    #[inline(always)]
    pub(crate) fn base(&self) -> *mut u8 {
        // SAFETY: `Shared` reaches no further than the block's shared memory (0).
        unsafe { isa::shared_base().add(self.offset) }
    }
}

impl<'s, A: Layout, B: Layout, P> Shared<'s, (A, B), P> {
    /// Splits the memory in two.
    pub fn split(self) -> (Shared<'s, A, First<P>>, Shared<'s, B, Second<P>>) {
        // SAFETY: the first `A::BYTES` bytes of what `self` owned; `self` is gone (0). Its start is
        // aligned to the larger of both alignments (1).
        let first = unsafe { Shared::new(self.offset) };
        // SAFETY: `B::BYTES` bytes behind the first half, within `<(A, B)>::BYTES` (0), rounded up
        // to its alignment (1).
        let second = unsafe { Shared::new(self.offset + A::BYTES.next_multiple_of(B::ALIGNMENT)) };
        (first, second)
    }

    /// Joins the two halves again.
    pub fn join(first: Shared<'s, A, First<P>>, second: Shared<'s, B, Second<P>>) -> Self {
        let _ = second;
        // SAFETY: both halves are given up, and halves of this brand and position come from one
        // `split` (0, 1).
        unsafe { Shared::new(first.offset) }
    }
}

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
        InBlock<'b, THREADS>: Meet<S>,
    {
        let _ = block;
        const { contents::check::<C, E, InBlock<'b, THREADS>, S>(COUNT) };
        // SAFETY: the stages' memory belongs to the pipeline from here on, nothing is in flight
        // there and nobody reads it (0), and it is aligned to 16 bytes (1).
        unsafe { Pipeline::new(self.base()) }
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
