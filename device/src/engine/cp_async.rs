//! Asynchronous copies by every thread.

use super::completion::Groups;
use super::sealed;
use super::units::{bytes_to, for_each_unit, has_two_units, units_of_row};
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
        // Each element of a tile by columns is a copy, without bounds where the tile is known to be
        // whole.
        if T::COLUMN_PITCH > 1
            && G::TEAM.is_multiple_of(units_of_row::<T>(const { Shape::of::<T>().unit(1) }))
            && source.is_whole()
        {
            // SAFETY: it is whole; the caller's promises. Such a tile has one part
            // (`Shape::divides_into`).
            unsafe { start_columns::<T, G, S>(destination, source) };
        } else if has_two_units::<T>(const { Shape::of::<T>().unit(G::PARTS) }, G::TEAM) && source.is_whole() {
            // Asked once for both.
            // SAFETY: so it is.
            let source = unsafe { source.whole() };
            // SAFETY: the caller's promises.
            unsafe { start::<T, G, S>(destination, source) };
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

/// Starts the copies of a tile that lies by columns and within its view as a whole: a thread copies
/// elements of one column, whose rows are equally far apart.
///
/// # Safety
///
/// As for [`copy`](sealed::Linear::copy), of a tile that lies within its view as a whole, in one
/// part. Its columns divide the team's threads.
#[inline(always)]
unsafe fn start_columns<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>) {
    let element = size_of::<T::Element>();
    let width = const { Shape::of::<T>().unit(1) };
    let units_of_row = units_of_row::<T>(width);
    let apart = G::TEAM / units_of_row;
    let deal = |_, member: usize| {
        let (row, byte) = (member / units_of_row, member % units_of_row * width);
        // From one address to the next one: of addresses that are worked out one by one the
        // compiler would keep the distances in registers.
        let (mut from, mut offset) = (source.address(row, byte), bytes_to::<T>(row, byte));
        for round in 0..T::ROWS.div_ceil(apart) {
            if T::ROWS.is_multiple_of(apart) || row + round * apart < T::ROWS {
                // SAFETY: a unit of the tile, so by (0) it stays in the stage.
                let to = unsafe { destination.add(offset) };
                // SAFETY: as in `start`; all of the tile lies in the view.
                unsafe { isa::cp_async_whole(to, from, width) };
            }
            from = source.rows_below(from, apart);
            offset += apart * T::PITCH * element;
        }
    };
    // SAFETY: (2); it starts copies of the calling thread, and nothing else.
    unsafe { G::deal(deal) };
}
