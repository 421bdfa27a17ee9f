//! Asynchronous copies by every thread.

use super::completion::Groups;
use super::sealed;
use super::units::for_each_unit;
use crate::group::Deal;
use crate::isa;
use crate::scope::Scope;
use crate::tile::Tile;
use crate::tile::shape::Shape;
use crate::view::tile_ref::TileRef;

/// Asynchronous copies by every thread: `cp.async` of 16, 8 or 4 bytes, the widest that the tile's
/// alignment allows.
///
/// The copies complete by asynchronous group. They need sm_80. A tile whose size and alignment are
/// not multiples of 4 bytes does not compile.
pub enum CpAsync {}

impl sealed::Engine for CpAsync {
    type Completion = Groups;
    const MOST_ISSUERS: usize = usize::MAX;
    const LEAST_UNIT: usize = 4;
    const WIDE_UNITS: bool = true;
}

impl super::ByHand for CpAsync {}

impl sealed::Linear for CpAsync {
    #[inline(always)]
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, (): (), source: TileRef<'_, T>) {
        if T::COLUMN_PITCH > 1 && source.lies_within() {
            // Each element is a copy: bounds are checked once for all of them.
            // SAFETY: just checked; the caller's promises.
            unsafe { start::<T, G, S>(destination, source.whole()) };
        } else {
            // SAFETY: the caller's promises.
            unsafe { start::<T, G, S>(destination, source) };
        }
    }

    #[inline(always)]
    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, (): ()) {
        let width = const { Shape::of::<T>().unit(G::PARTS) };
        let zero = |_, _, offset| {
            // SAFETY: `offset` lies in the tile, a multiple of `width`, so by (0) it stays in the
            // stage.
            let to = unsafe { destination.add(offset) };
            // SAFETY: `to` is shared memory (0) aligned to `width`, of which the stage's alignment
            // and the offset are multiples; (1) keeps it untouched until it was waited for. The
            // source is 16 bytes of zeros, aligned to 16, which nobody writes.
            unsafe { isa::cp_async(to, isa::zeros(), width as u32, width) };
        };
        // SAFETY: (2); `zero` starts copies of the calling thread, and nothing else.
        unsafe { for_each_unit::<T, G, S>(width, zero) };
    }
}

/// Starts the copies of a tile.
///
/// # Safety
///
/// As for [`copy`](sealed::Linear::copy).
#[inline(always)]
unsafe fn start<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>) {
    let width = const { Shape::of::<T>().unit(G::PARTS) };
    let copy = |row, column, offset| {
        let (from, valid) = (source.address(row, column), source.valid_bytes(row, column, width));
        // SAFETY: `offset` lies in the tile, a multiple of `width`, so by (0) it stays in the
        // stage.
        let to = unsafe { destination.add(offset) };
        if source.is_whole() {
            // SAFETY: `to` and `from` as in the other case; of a whole tile all bytes are
            // valid.
            unsafe { isa::cp_async_whole(to, from, width) };
        } else {
            // SAFETY: `to` is shared memory (0) aligned to `width`, of which the stage's
            // alignment and the offset are multiples; `from` is aligned to `width` (the tile's
            // start and its rows are aligned to ALIGNMENT, a multiple of `width`), and `valid`
            // bytes from there on lie in the view, which nobody writes for the whole launch.
            // (1) keeps the destination untouched until it was waited for.
            unsafe { isa::cp_async(to, from, valid, width) };
        }
    };
    // SAFETY: (2); `copy` starts copies of the calling thread, and nothing else.
    unsafe { for_each_unit::<T, G, S>(width, copy) };
}
