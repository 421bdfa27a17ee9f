//! One stage, while it is being filled.

use core::marker::PhantomData;

use super::ring::PresenceOf;
use super::setup::Setup;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::stage::contents::Fill;

/// An acquired stage, empty and to be filled.
///
/// # Invariants
///
/// 0. `memory` is a stage of a ring of `U` that no thread reads or writes, and no copy into it is
///    under way.
#[must_use = "an acquired stage is to be filled: call `copy`"]
pub struct Stage<'x, U> {
    memory: *mut u8,
    brand: Brand<'x>,
    level: BlockLevel,
    setup: PhantomData<U>,
}

impl<U> !Uniform for Stage<'_, U> {}
impl<U: Setup> !Uniform for StageFilled<'_, U> {}

impl<'x, U: Setup> Stage<'x, U> {
    /// Makes the stage at `memory`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(memory: *mut u8) -> Self {
        Stage { memory, brand: PhantomData, level: PhantomData, setup: PhantomData }
    }

    /// Starts to copy a tile, or zeros, into the stage; several tiles as a tuple, an optional one
    /// as an `Option`. Bytes beyond the end of a tile's view are zero.
    ///
    /// CUDA: `cuda::memcpy_async(group, ..)`.
    #[inline(always)]
    pub fn copy<F: Fill<U::Contents>>(self, source: F) -> StageFilled<'x, U> {
        // SAFETY: nobody reads or writes the stage (0), and the filled stage has no way to its
        // memory until `wait`. A stage exists where its group runs as one: it is not `Uniform`, so
        // no closure below that level has it.
        let present = unsafe { source.fill::<U::Engine, U::Group, U::Scope>(self.memory) };
        StageFilled { present, brand: PhantomData, level: PhantomData }
    }
}

/// The proof that a [`Stage`] was filled.
#[must_use = "return the filled stage from the closure that was given the empty one"]
pub struct StageFilled<'x, U: Setup> {
    pub(super) present: PresenceOf<U>,
    brand: Brand<'x>,
    level: BlockLevel,
}
