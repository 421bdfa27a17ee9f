//! Groups: the threads that run a pipeline together, and how they share its work at each scope.

pub(crate) mod block;
mod collective;
mod deal;
pub(crate) mod filling;
pub(crate) mod instant;
pub(crate) mod rounds;
pub(crate) mod scratch;
mod synchronise;
mod thread_of;
pub(crate) mod warp;

use core::convert::Infallible;

use crate::isa::WARP;
use crate::marker::Brand;

pub use deal::Deal;
pub use synchronise::Synchronise;
#[cfg_attr(doc, doc(hidden))]
pub use thread_of::ThreadOf;

/// The threads that take a pipeline's steps together. Sealed: [`InBlock`], [`InWarp`] and
/// [`InThread`].
pub trait Group: sealed::Sealed {
    /// How many threads share a tile.
    const THREADS: usize;
}

/// All threads of the block that `'b` is the brand of, which has `THREADS`: a pipeline of
/// block-level code.
pub struct InBlock<'b, const THREADS: usize> {
    _brand: Brand<'b>,
    _none: Infallible,
}
/// One warp of a block of `THREADS`: a pipeline of warp-level code.
pub enum InWarp<const THREADS: usize> {}
/// One thread of a block of `THREADS`: a pipeline inside a per-thread closure.
pub enum InThread<const THREADS: usize> {}

impl<const THREADS: usize> Group for InBlock<'_, THREADS> {
    const THREADS: usize = THREADS;
}
impl<const THREADS: usize> Group for InWarp<THREADS> {
    const THREADS: usize = WARP;
}
impl<const THREADS: usize> Group for InThread<THREADS> {
    const THREADS: usize = 1;
}

/// Says that a pipeline belongs to the whole block.
#[diagnostic::on_unimplemented(
    message = "this step is the block's: a pipeline of one warp or one thread can't take it",
    label = "a step of the whole block",
    note = "for `finish`: the memory goes back to the block when the scope function (`shared.warps(..)`, `shared.threads(..)`) \
            returns; for `publish`: nobody else reads these tiles, and their own reader may read all of them at once"
)]
#[cfg_attr(doc, doc(hidden))]
pub trait WholeBlock {}
impl<const THREADS: usize> WholeBlock for InBlock<'_, THREADS> {}

/// A `Ready` tile may be read as a whole.
pub enum WholeTile {}
/// A `Ready` tile may be read in part: what the thread's scope copied.
pub enum PartOfTile {}

/// Says that a reader may read the whole tile.
#[cfg_attr(doc, doc(hidden))]
pub trait Whole {}
impl Whole for WholeTile {}

/// Says that a reader may read a part of the tile, at no position.
#[diagnostic::on_unimplemented(
    message = "this stage holds no single tile to index: it holds several, or one that may be missing",
    label = "this doesn't say which tile, or whether there is one",
    note = "of several tiles take one first, `tiles.tiles().0[i]`; of an `Optional` tile ask first, `if let Some(tile) = tile.get()`"
)]
#[cfg_attr(doc, doc(hidden))]
pub trait Part {}
impl Part for PartOfTile {}

/// The warps of a block.
pub(crate) const fn warps<const THREADS: usize>() -> usize {
    assert!(THREADS.is_multiple_of(WARP), "warps need a block of a multiple of 32 threads");
    THREADS / WARP
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<const THREADS: usize> Sealed for super::InBlock<'_, THREADS> {}
    impl<const THREADS: usize> Sealed for super::InWarp<THREADS> {}
    impl<const THREADS: usize> Sealed for super::InThread<THREADS> {}
}
