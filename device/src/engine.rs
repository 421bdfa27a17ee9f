//! Copy engines: what moves a tile from global to shared memory.
//!
//! The engine is a type that the kernel's author picks in [`Stages`](crate::Stages); none is ever replaced silently.

use crate::isa;
use crate::tile::Tile;
use crate::view::TileRef;

/// A copy engine. Sealed: [`CpAsync`] and [`LoadStore`].
pub trait Engine: sealed::Engine + 'static {}

/// Asynchronous copies by every thread: `cp.async` of 16, 8 or 4 bytes, the widest that the tile's alignment allows.
///
/// Completes by asynchronous group. Needs sm_80; a tile whose size and alignment are no multiple of 4 bytes does not
/// compile.
pub enum CpAsync {}

/// Ordinary loads and stores through registers (CUDA's copy without `memcpy_async`): nothing overlaps.
///
/// Completes by the scope's barrier. Any target, any tile.
pub enum LoadStore {}

impl Engine for CpAsync {}
impl Engine for LoadStore {}

/// How many of a thread's youngest committed groups may still be under way after a wait.
pub trait Pending {
    /// The number of groups.
    const GROUPS: usize;
}

pub(crate) mod sealed {
    use super::*;

    /// The operations of an engine, one call a thread block.
    pub trait Engine {
        /// The least unit of a copy in bytes: a tile's size and alignment are multiples of it.
        const LEAST_UNIT: usize;

        /// Starts to copy `source` to `destination` with `threads` threads. Bytes of the tile beyond the view are zero.
        ///
        /// # Safety
        ///
        /// 0. `destination` is the start of a stage in shared memory for a `T`, aligned to 16 bytes.
        /// 1. No thread reads or writes that stage until the copy was committed and waited for and the scope
        ///    synchronised, and no thread may still be reading it from before.
        /// 2. Called by all `threads` threads of the block in converged code.
        unsafe fn copy<T: Tile>(threads: usize, destination: *mut u8, source: TileRef<'_, T>);
        /// Closes the group of copies started since the last commit.
        fn commit();
        /// Waits until all but the youngest `P::GROUPS` groups of the calling thread have landed.
        fn wait<P: Pending>();
    }
}

impl sealed::Engine for CpAsync {
    const LEAST_UNIT: usize = 4;

    #[inline(always)]
    unsafe fn copy<T: Tile>(threads: usize, destination: *mut u8, source: TileRef<'_, T>) {
        let width = const { unit_of::<T>() };
        for_each_unit(threads, width, &source, |offset, from, valid| {
            // SAFETY: `offset` lies in the tile, a multiple of `width`, so by (0) it stays in the stage.
            let to = unsafe { destination.add(offset) };
            // SAFETY: `to` is shared memory (0) aligned to `width` as 16 and the offset are multiples of it; `from` is
            // aligned to `width` (the view's base is aligned to 16, the tile's start to ALIGNMENT, a multiple of
            // `width`), and `valid` bytes behind it lie in the view (`for_each_unit`), which nobody writes for the whole
            // launch. (1) keeps the destination untouched until it was waited for.
            unsafe { isa::cp_async(to, from, valid, width) };
        });
    }

    #[inline(always)]
    fn commit() {
        isa::cp_async_commit_group();
    }

    #[inline(always)]
    fn wait<P: Pending>() {
        isa::cp_async_wait_group::<P>();
    }
}

impl sealed::Engine for LoadStore {
    const LEAST_UNIT: usize = 1;

    #[inline(always)]
    unsafe fn copy<T: Tile>(threads: usize, destination: *mut u8, source: TileRef<'_, T>) {
        let width = size_of::<T::Element>();
        for_each_unit(threads, width, &source, |offset, from, valid| {
            // SAFETY: `offset` lies in the tile, so by (0) it stays in the stage.
            let to = unsafe { destination.add(offset) };
            // SAFETY: as for `CpAsync`; elements are plain data and lie wholly inside or outside the view, so that
            // `valid` is `width` or 0.
            unsafe { isa::copy_through_register::<T::Element>(to.cast(), from.cast(), valid != 0) };
        });
    }

    #[inline(always)]
    fn commit() {}

    #[inline(always)]
    fn wait<P: Pending>() {}
}

/// The widest unit in bytes that divides the tile's size and to which its start is aligned.
const fn unit_of<T: Tile>() -> usize {
    let mut width = T::ALIGNMENT;
    while T::BYTES % width != 0 {
        width /= 2;
    }
    width
}

/// Deals the tile's units of `width` bytes out to the block's threads, unit `u` to thread `u % threads`, and calls
/// `copy(offset in the tile, source address, bytes of the unit that lie in the view)` for each.
#[inline(always)]
fn for_each_unit<T: Tile>(threads: usize, width: usize, source: &TileRef<'_, T>, copy: impl Fn(usize, *const u8, u32)) {
    let units = T::BYTES / width;
    isa::for_each_thread(threads, |rank| {
        let mut unit = rank;
        while unit < units {
            let offset = unit * width;
            copy(offset, source.address(offset), source.valid_bytes(offset, width));
            unit += threads;
        }
    });
}
