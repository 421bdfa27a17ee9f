//! Copy engines: what moves a tile from global to shared memory.
//!
//! The engine is a type that the kernel's author picks in [`Stages`](crate::Stages); none is ever
//! replaced silently.

use crate::group::Deal;
use crate::isa::{self, PendingGroups};
use crate::scope::Scope;
use crate::stage::contents::Shape;
use crate::tile::Tile;
use crate::view::tile_ref::TileRef;

/// A copy engine. Sealed: [`CpAsync`] and [`LoadStore`].
pub trait Engine: sealed::Engine + 'static {}

/// Asynchronous copies by every thread: `cp.async` of 16, 8 or 4 bytes, the widest that the tile's
/// alignment allows.
///
/// Completes by asynchronous group. Needs sm_80; a tile whose size and alignment are no multiple of
/// 4 bytes does not compile.
pub enum CpAsync {}

/// Ordinary loads and stores through registers (CUDA's copy without `memcpy_async`): nothing
/// overlaps.
///
/// Completes by the scope's barrier. Any target, any tile.
pub enum LoadStore {}

impl Engine for CpAsync {}
impl Engine for LoadStore {}

pub(crate) mod sealed {
    use super::*;

    /// The operations of an engine, one call a group of threads.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no copy engine: `Engine` is sealed",
        label = "not one of tilepipe's engines",
        note = "a pipeline trusts its engine to say when copies have landed: take `CpAsync` or `LoadStore`"
    )]
    pub trait Engine {
        /// The least unit of a copy in bytes: a tile's size and alignment are multiples of it.
        const LEAST_UNIT: usize;
        /// Whether copies land later than they are issued, so that an arrival for them is
        /// asynchronous too.
        const ASYNCHRONOUS: bool;

        /// Starts to copy `source` to `destination` by the threads of `G`, as scope `S` deals it
        /// out. Bytes of the tile beyond the view are zero.
        ///
        /// # Safety
        ///
        /// 0. `destination` is the start of a tile `T` of a stage in shared memory, aligned as
        ///    `Contents::ALIGNMENT` says.
        /// 1. No thread reads or writes that stage until the copy was committed and waited for and
        ///    the scope synchronised, and no thread may still be reading it from before.
        /// 2. Called by threads of the group, which has as many as its type says, and by each that
        ///    a unit of the tile is dealt out to.
        unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>);
        /// Starts to fill a tile with zeros.
        ///
        /// # Safety
        ///
        /// As for [`copy`](Engine::copy).
        unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8);
        /// Closes the group of copies started since the last commit.
        ///
        /// # Safety
        ///
        /// Called by all threads of the group, in whose pipeline it closes one stage: waits count
        /// groups (`wait`).
        unsafe fn commit();
        /// Waits until all but the youngest `P::GROUPS` groups of the calling thread have landed.
        ///
        /// # Safety
        ///
        /// Called by all threads of the group. What is read of the others' copies waits for the
        /// scope first.
        unsafe fn wait<P: PendingGroups>();
    }
}

impl sealed::Engine for CpAsync {
    const LEAST_UNIT: usize = 4;
    const ASYNCHRONOUS: bool = true;

    #[inline(always)]
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>) {
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
                // alignment and the offset are multiples; `from` is aligned to `width` (the view's
                // base is aligned to 16, its rows and the tile's start to ALIGNMENT, a multiple of
                // `width`), and `valid` bytes behind it lie in the view, which nobody writes for
                // the whole launch. (1) keeps the destination untouched until it was waited for.
                unsafe { isa::cp_async(to, from, valid, width) };
            }
        };
        // SAFETY: (2); `copy` starts copies of the calling thread, and nothing else.
        unsafe { for_each_unit::<T, G, S>(width, copy) };
    }

    #[inline(always)]
    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8) {
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

    #[inline(always)]
    unsafe fn commit() {
        isa::cp_async_commit_group();
    }

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>() {
        isa::cp_async_wait_group::<P>();
    }
}

impl sealed::Engine for LoadStore {
    const LEAST_UNIT: usize = 1;
    const ASYNCHRONOUS: bool = false;

    #[inline(always)]
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>) {
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
    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8) {
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

    #[inline(always)]
    unsafe fn commit() {}

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>() {}
}

/// Deals the tile's units of `width` bytes out to the group's threads: of each part unit `u` to
/// member `u % TEAM`, and calls `copy(row, byte offset in the row, byte offset in shared memory)`
/// for each.
///
/// # Safety
///
/// As for [`Deal::deal`].
#[inline(always)]
unsafe fn for_each_unit<T: Tile, G: Deal<S>, S: Scope>(width: usize, copy: impl Fn(usize, usize, usize)) {
    let element = size_of::<T::Element>();
    let units_of_row = T::COLUMNS * element / width;
    let units = T::LEN * element / width / G::PARTS;
    let deal = |part: usize, member: usize| {
        if T::ROWS == 1 {
            // A number of rounds that the compiler knows, so that it unrolls a few.
            for round in 0..units.div_ceil(G::TEAM) {
                let unit = member + round * G::TEAM;
                if unit < units {
                    let index = part * units + unit;
                    copy(0, index * width, index * width);
                }
            }
        } else {
            // One by one: places in rows take many registers.
            let mut unit = member;
            while unit < units {
                let index = part * units + unit;
                let (row, column) = (index / units_of_row, index % units_of_row * width);
                copy(row, column, row * T::PITCH * element + column);
                unit += G::TEAM;
            }
        }
    };
    // SAFETY: the caller's promises.
    unsafe { G::deal(deal) };
}
