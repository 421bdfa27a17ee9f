//! Copies through registers.

use super::completion::AtOnce;
use super::sealed;
use super::units::for_each_unit;
use crate::group::Deal;
use crate::isa;
use crate::scope::Scope;
use crate::tile::Tile;
use crate::view::tile_ref::TileRef;

/// Ordinary loads and stores through registers (CUDA's copy without `memcpy_async`): nothing
/// overlaps.
///
/// The copies complete by the scope's barrier. Every target and every tile has them.
pub enum LoadStore {}

impl sealed::Engine for LoadStore {
    type Completion = AtOnce;
    const MOST_ISSUERS: usize = usize::MAX;
    const LEAST_UNIT: usize = 1;
    const WIDE_UNITS: bool = false;
}

impl super::ByHand for LoadStore {}

impl sealed::Linear for LoadStore {
    #[inline(always)]
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, (): (), source: TileRef<'_, T>) {
        let width = size_of::<T::Element>();
        let copy = |row, column, offset| {
            let (from, valid) = (source.address(row, column), source.valid_bytes(row, column, width));
            // SAFETY: `offset` lies in the tile, so by (0) it stays in the stage.
            let to = unsafe { destination.add(offset) };
            // SAFETY: `to` is in the stage (0), aligned for an element, and nobody accesses it
            // before the scope has synchronised (1). Elements are plain data and lie wholly inside
            // or outside the view, so that `valid` is `width` or 0; valid ones lie in the view,
            // aligned for an element, and nobody writes them for the whole launch.
            unsafe { isa::copy_through_register::<T::Element>(to.cast(), from.cast(), valid != 0) };
        };
        // SAFETY: (2); `copy` stores what the calling thread has loaded, and does nothing else.
        unsafe { for_each_unit::<T, G, S>(width, copy) };
    }

    #[inline(always)]
    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, (): ()) {
        let zero = |_, _, offset| {
            // SAFETY: `offset` lies in the tile, so by (0) it stays in the stage.
            let to = unsafe { destination.add(offset) };
            // SAFETY: `to` is in the stage (0), aligned for an element, and nobody accesses it
            // before the scope has synchronised (1); nothing is read.
            unsafe { isa::copy_through_register::<T::Element>(to.cast(), core::ptr::null(), false) };
        };
        // SAFETY: (2); `zero` stores zeros in the calling thread, and does nothing else.
        unsafe { for_each_unit::<T, G, S>(size_of::<T::Element>(), zero) };
    }
}
