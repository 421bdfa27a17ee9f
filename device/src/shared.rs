//! Shared memory: typed, handed out once, given back when its user is finished.

use core::marker::PhantomData;

use crate::block::Block;
use crate::engine::{CpAsync, Engine};
use crate::isa;
use crate::pipeline::{Idle, Pipeline, Unified};
use crate::scope::{BlockScope, Scope};
use crate::tile::{BlockLevel, Brand, Tile};
use crate::uniform::Uniform;

/// What a kernel keeps in shared memory: [`Stages`], or a pair of layouts.
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

/// The stages of a pipeline: `COUNT` tiles of type `T`, filled by engine `E`, synchronised at scope `S`.
///
/// CUDA: `cuda::pipeline_shared_state<scope, COUNT>` and the buffer beside it, in one.
pub struct Stages<T, const COUNT: usize, E = CpAsync, S = BlockScope>(PhantomData<(T, E, S)>);

impl<T: Tile, const COUNT: usize, E, S> Stages<T, COUNT, E, S> {
    /// Bytes from one stage's start to the next one's: the tile's size, rounded up to 16.
    pub(crate) const STRIDE: usize = size_of::<T>().next_multiple_of(16);
}

// SAFETY: 16 is a power of two, STRIDE a multiple of it, and COUNT stages of STRIDE bytes each are what a pipeline touches.
unsafe impl<T: Tile, const COUNT: usize, E: Engine, S: Scope> Layout for Stages<T, COUNT, E, S> {
    const BYTES: usize = {
        assert!(COUNT >= 1, "a pipeline has at least one stage");
        assert!(COUNT * Self::STRIDE <= u32::MAX as usize, "the stages of a pipeline fit in 4 GiB");
        COUNT * Self::STRIDE
    };
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
/// 0. `L::BYTES` bytes of the block's shared memory from byte `offset` on belong to this value alone, and no copy into
///    them is under way.
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

impl<'s, T: Tile, const COUNT: usize, E: Engine, S: Scope, P> Shared<'s, Stages<T, COUNT, E, S>, P> {
    /// Makes a pipeline of these stages, all of them free.
    ///
    /// It lowers to nothing: a unified pipeline has no state in memory. A tile that the engine can't copy does not compile.
    ///
    /// CUDA: `cuda::make_pipeline(block, &shared_state)`.
    #[inline(always)]
    pub fn pipeline<const THREADS: usize>(
        self,
        block: &Block<'_, THREADS>,
    ) -> Idle<'s, Unified<Stages<T, COUNT, E, S>, THREADS, P>, COUNT> {
        let _ = block;
        const {
            assert!(
                T::ALIGNMENT >= E::LEAST_UNIT && T::BYTES.is_multiple_of(E::LEAST_UNIT),
                "this tile can't be copied asynchronously: its size or its alignment is no multiple of 4 bytes; use the \
                 engine `LoadStore` for it, `Stages<Tile, COUNT, LoadStore>`"
            )
        };
        // SAFETY: `Shared` reaches no further than the block's shared memory (0).
        let base = unsafe { isa::shared_base().add(self.offset) };
        // SAFETY: the stages' memory belongs to the pipeline from here on, nothing is in flight there (0), and it is
        // aligned to 16 bytes (1).
        unsafe { Pipeline::new(base) }
    }
}
