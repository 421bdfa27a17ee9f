//! One stage: while it is being filled, and while its tile is read.

use core::marker::PhantomData;
use core::ops::Deref;

use super::ring;
use super::steps::Setup;
use crate::scope::BlockScope;
use crate::tile::{BlockLevel, Brand};
use crate::uniform::Uniform;
use crate::view::TileRef;

/// An acquired stage, empty and to be filled.
///
/// # Invariants
///
/// 0. `memory` is a stage of a ring of `U` that no thread reads or writes, and no copy into it is under way.
#[must_use = "an acquired stage is to be filled: call `copy`"]
pub struct Stage<'x, U> {
    memory: *mut u8,
    brand: Brand<'x>,
    level: BlockLevel,
    setup: PhantomData<U>,
}

impl<U> !Uniform for Stage<'_, U> {}
impl<U> !Uniform for StageFilled<'_, U> {}

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

    /// Starts to copy `tile` into the stage; bytes beyond the end of its view are zero.
    ///
    /// CUDA: `cuda::memcpy_async(block, ..)`.
    #[inline(always)]
    pub fn copy(self, tile: TileRef<'_, U::Tile>) -> StageFilled<'x, U> {
        // SAFETY: (0) and the first half of (1) are this stage's invariant, and the filled stage has no way to its
        // memory until `wait`; (2) a stage exists in block-level code only, as it is not `Uniform`.
        unsafe { ring::copy::<U>(self.memory, tile) };
        StageFilled { brand: PhantomData, level: PhantomData, setup: PhantomData }
    }
}

/// The proof that a [`Stage`] was filled.
#[must_use = "return the filled stage from the closure that was given the empty one"]
pub struct StageFilled<'x, U> {
    brand: Brand<'x>,
    level: BlockLevel,
    setup: PhantomData<U>,
}

/// A tile that has landed and may be read until it is released.
///
/// At [`BlockScope`] every thread may read all of it: it derefs to the tile.
///
/// # Invariants
///
/// 0. `tile` is a whole tile in shared memory, visible to every thread of the scope, and nobody writes it while this
///    value exists.
#[must_use = "the stage stays held: give the tile back with `pipe.release(tile)`"]
pub struct Ready<'s, U: Setup> {
    tile: *const U::Tile,
    brand: Brand<'s>,
}

// SAFETY: (0) the tile is plain data that nobody writes; (1) it has no collective operation: `release` takes it by value.
unsafe impl<U: Setup> Uniform for Ready<'_, U> {}

impl<U: Setup> Ready<'_, U> {
    /// Makes the readable tile at `tile`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(tile: *const U::Tile) -> Self {
        Ready { tile, brand: PhantomData }
    }

    pub(super) fn as_ptr(&self) -> *const U::Tile {
        self.tile
    }
}

impl<U: Setup<Scope = BlockScope>> Deref for Ready<'_, U> {
    type Target = U::Tile;

    #[inline(always)]
    fn deref(&self) -> &U::Tile {
        // SAFETY: the tile is whole, aligned and not written while `self` is borrowed (invariant 0); it is plain data.
        unsafe { &*self.tile }
    }
}
