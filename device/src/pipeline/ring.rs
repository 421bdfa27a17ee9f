//! The ring of stages in shared memory: where the next stage to fill and the next to read lie.

use core::marker::PhantomData;

use super::steps::Setup;
use crate::engine::{Pending, sealed::Engine as _};
use crate::isa;
use crate::scope::sealed::Scope as _;
use crate::view::TileRef;

/// The stages' memory and two positions in it, and the operations that a step is made of.
///
/// Stages are filled and read in the same order, round and round, so that the oldest stage in flight is the one at
/// `tail`, and the one at `head` is the longest released.
///
/// # Invariants
///
/// 0. `U::COUNT` stages of `U::STRIDE` bytes from `base` on, in shared memory and aligned to 16 bytes, belong to this ring.
/// 1. `head` and `tail` are multiples of `U::STRIDE` below `U::COUNT * U::STRIDE`.
pub(super) struct Ring<U> {
    base: *mut u8,
    head: u32,
    tail: u32,
    setup: PhantomData<U>,
}

impl<U: Setup> Ring<U> {
    /// Makes the ring of the stages at `base`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(base: *mut u8) -> Self {
        Ring { base, head: 0, tail: 0, setup: PhantomData }
    }

    /// The first byte of the first stage.
    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The next stage to fill; the one after it is next from here on.
    #[inline(always)]
    pub(super) fn next_to_fill(&mut self) -> *mut u8 {
        let stage = self.stage(self.head);
        self.head = Self::after(self.head);
        stage
    }

    /// The next stage to read; the one after it is next from here on.
    #[inline(always)]
    pub(super) fn next_to_read(&mut self) -> *const U::Tile {
        let stage = self.stage(self.tail);
        self.tail = Self::after(self.tail);
        stage.cast_const().cast()
    }

    /// Makes the next stage to fill the next to read: for a ring that holds nothing.
    #[inline(always)]
    pub(super) fn restart(&mut self) {
        self.tail = self.head;
    }

    #[inline(always)]
    fn stage(&self, position: u32) -> *mut u8 {
        // SAFETY: the position lies within the stages (1), which are one allocation (0).
        unsafe { self.base.add(position as usize) }
    }

    #[inline(always)]
    fn after(position: u32) -> u32 {
        let next = position + U::STRIDE as u32;
        if next == (U::COUNT * U::STRIDE) as u32 { 0 } else { next }
    }
}

/// Starts to copy `source` into `stage`.
///
/// # Safety
///
/// 0. `stage` is a stage of a ring of `U`.
/// 1. No thread may still be reading it, and none reads or writes it before it was waited for.
/// 2. All threads of the block make this call, in converged code.
#[inline(always)]
pub(super) unsafe fn copy<U: Setup>(stage: *mut u8, source: TileRef<'_, U::Tile>) {
    // SAFETY: (0) to (2) of the engine are the same promises: a stage is aligned to 16 bytes and holds a tile.
    unsafe { U::Engine::copy(U::THREADS, stage, source) };
}

/// Closes the group of copies of the stage being filled.
#[inline(always)]
pub(super) fn commit<U: Setup>() {
    U::Engine::commit();
}

/// Waits for all but the youngest `P::GROUPS` groups, then for every thread of the scope: after it all of them see the
/// stages of the older groups whole, and none of them reads a stage that it released before.
///
/// # Safety
///
/// All threads of the scope make this call, in converged code.
#[inline(always)]
pub(super) unsafe fn wait<U: Setup, P: Pending>() {
    U::Engine::wait::<P>();
    // SAFETY: the caller's promise.
    unsafe { U::Scope::synchronise() };
}

/// Waits for every thread of the scope: after it none of them reads a stage that it released before.
///
/// # Safety
///
/// All threads of the scope make this call, in converged code.
#[inline(always)]
pub(super) unsafe fn synchronise<U: Setup>() {
    // SAFETY: the caller's promise.
    unsafe { U::Scope::synchronise() };
}

/// Tells the CPU backend's model that the tile's threads may go on reading it until the next barrier, and then no more.
#[inline(always)]
pub(super) fn released<U: Setup>(tile: *const U::Tile) {
    isa::released(tile.cast(), size_of::<U::Tile>());
}
