//! Groups whose threads fill shared memory together.

use super::block::{Block, Thread};
use super::warp::{Lane, Warp};
use crate::isa::{self, WARP};
use crate::tile::{Tile, place};

/// The threads that fill shared memory together and then read it: a [`Block`], a [`Warp`], or a
/// [`RoleGroup`](crate::role::RoleGroup) of whole warps. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't fill shared memory",
    label = "not a block, a warp, or a role of whole warps",
    note = "all threads that fill a tile meet before one of them reads it, and roles that share a warp have no barrier: take `WarpRoles`, or \
            fill it in the block"
)]
pub trait FillingGroup: sealed::FillingGroup {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't fill shared memory",
        label = "not a block, a warp, or a role of whole warps",
        note = "what is filled is read after all threads have met: take a block, a warp, or a role of `WarpRoles`"
    )]
    pub trait FillingGroup {
        /// The token of one of its threads, for one call of a closure.
        type Thread<'t>;

        /// How many threads it has.
        const THREADS: usize;

        /// Runs `run` in each thread, with its rank: below `THREADS`, and no other thread's.
        ///
        /// # Safety
        ///
        /// The calling thread is one of the group.
        unsafe fn each(run: impl Fn(usize));

        /// Waits for all threads of the group; what they wrote to shared memory before is visible
        /// to each, and their reads before are done.
        ///
        /// # Safety
        ///
        /// All threads of the group make this call, in code at the group's own level.
        unsafe fn meet();

        /// The token of the thread of rank `rank`.
        ///
        /// # Safety
        ///
        /// `rank` is the calling thread's in the group, and the token lives as long as one call of
        /// a closure.
        unsafe fn thread<'t>(&self, rank: usize) -> Self::Thread<'t>;
    }
}

impl<const THREADS: usize> FillingGroup for Block<'_, THREADS> {}

impl<'b, const THREADS: usize> sealed::FillingGroup for Block<'b, THREADS> {
    type Thread<'t> = Thread<'t, 'b, THREADS>;

    const THREADS: usize = THREADS;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        // SAFETY: a block of this type has THREADS threads in one dimension (`Block`, 0).
        unsafe { isa::for_each_thread(THREADS, run) };
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise: block-level code is converged (R2).
        unsafe { isa::barrier() };
    }

    #[inline(always)]
    unsafe fn thread<'t>(&self, rank: usize) -> Thread<'t, 'b, THREADS> {
        // SAFETY: the caller's promise; `'b` is the block's brand (`Block`, 2).
        unsafe { Thread::new(rank) }
    }
}

impl<const THREADS: usize> FillingGroup for Warp<'_, '_, THREADS> {}

impl<'w, 'b, const THREADS: usize> sealed::FillingGroup for Warp<'w, 'b, THREADS> {
    type Thread<'t> = Lane<'t, 'w, 'b, THREADS>;

    const THREADS: usize = WARP;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        isa::for_each_lane(run);
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise: warp-level code runs in all threads of the warp.
        unsafe { isa::warp_barrier() };
    }

    #[inline(always)]
    unsafe fn thread<'t>(&self, rank: usize) -> Lane<'t, 'w, 'b, THREADS> {
        // SAFETY: the caller's promise: `rank` is the calling thread's lane.
        unsafe { self.lane(rank) }
    }
}

/// Has each thread of the group write its elements of a tile, from its rank on every `THREADS`-th
/// one: `value` gets the thread's token, the number of the element, counted row by row, and what
/// the element is now if it `READS` that (zeros if not).
///
/// # Safety
///
/// 0. `tile` is valid for writes, and if it `READS` for reads, of a tile in shared memory. While
///    the call runs the group's threads alone access it, and each only what this function gives it.
///    No copy into it or from it is in flight.
/// 1. All threads of the group make this call, at the group's own level.
#[inline(always)]
pub(crate) unsafe fn write_each<S: Tile, G: FillingGroup, const READS: bool>(
    group: &G,
    tile: *mut S,
    value: impl Fn(G::Thread<'_>, usize, S::Element) -> S::Element,
) {
    let elements = const { S::ROWS * S::COLUMNS };
    let first = tile.cast::<S::Element>();
    let run = |rank: usize| {
        for nth in 0..elements.div_ceil(G::THREADS) {
            let element = rank + nth * G::THREADS;
            if elements.is_multiple_of(G::THREADS) || element < elements {
                let place = first.wrapping_add(place::<S>(element / S::COLUMNS, element % S::COLUMNS));
                // SAFETY: `each` passes the calling thread's rank, and the token is used in this
                // call of `value` alone.
                let thread = unsafe { group.thread(rank) };
                // SAFETY: an element of the tile (0 of `Tile`, and 0), which no other thread
                // accesses: ranks are different.
                let old = if READS { unsafe { place.read() } } else { bytemuck::Zeroable::zeroed() };
                let value = value(thread, element, old);
                // SAFETY: as above.
                unsafe { isa::store_shared(place, value) };
            }
        }
    };
    // SAFETY: the caller's promise (1).
    unsafe { G::each(run) };
}
