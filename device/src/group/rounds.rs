//! What the collectives of the block, of roles and of warps are made of: rounds of lanes, and
//! values that go through scratch memory between barriers.

use super::scratch::{CollectiveGroup, Scratch};
use crate::element::Element;
use crate::isa::{self, Lanes, WARP};

/// What `Block::reduce` and that of a role do.
///
/// # Safety
///
/// All `N` threads of the group make this call; for a block in converged code. A role consists of
/// whole warps.
#[inline(always)]
pub(crate) unsafe fn reduce_in<G: CollectiveGroup, T: Element, const N: usize>(
    values: &isa::PerThread<T, N>,
    op: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: the caller's promise: the group has `N` threads, and a role has whole warps.
    let warps = unsafe { reduce_lanes(values, N, &op) };
    let scratch = Scratch::<T>::of::<G>();
    // The barrier ends all reads of the scratch memory by earlier collectives.
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let write = |rank: usize| {
        if rank.is_multiple_of(WARP) {
            // SAFETY: the warp's own slot, between two barriers in which nobody else accesses it.
            unsafe { scratch.write(rank / WARP, warps.get(rank)) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, write) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let combine = |rank: usize| {
        if rank == 0 {
            // SAFETY: the warps' slots were written before the barrier.
            let mut result = unsafe { scratch.read(0) };
            for warp in 1..N.div_ceil(WARP) {
                // SAFETY: the warps' slots were written before the barrier.
                result = op(result, unsafe { scratch.read(warp) });
            }
            // SAFETY: this thread alone accesses the group's result between these two barriers.
            unsafe { scratch.write_result(result) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, combine) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    // SAFETY: written before the barrier, and not again before another one.
    unsafe { scratch.read_result() }
}

/// What `Block::scan` and that of a role do.
///
/// # Safety
///
/// As for [`reduce_in`].
#[inline(always)]
pub(crate) unsafe fn scan_in<G: CollectiveGroup, T: Element, const N: usize>(
    values: &isa::PerThread<T, N>,
    op: impl Fn(T, T) -> T,
) -> isa::PerThread<T, N> {
    // SAFETY: the caller's promise: the group has `N` threads, and a role has whole warps.
    let mut scanned = unsafe { scan_lanes(values, &op) };
    let scratch = Scratch::<T>::of::<G>();
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let write = |rank: usize| {
        if rank % WARP == WARP - 1 {
            // SAFETY: the warp's own slot, between two barriers in which nobody else accesses it.
            unsafe { scratch.write(rank / WARP, scanned.get(rank)) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, write) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let combine = |rank: usize, value: &mut T| {
        if rank >= WARP {
            // SAFETY: the slots of whole warps were written before the barrier, and not again
            // before another one.
            let mut before = unsafe { scratch.read(0) };
            for warp in 1..rank / WARP {
                // SAFETY: the slots of whole warps were written before the barrier, and not again
                // before another one.
                before = op(before, unsafe { scratch.read(warp) });
            }
            *value = op(before, *value);
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call, N in all.
    unsafe { scanned.update_members(G::MEMBERS, combine) };
    scanned
}

/// What `Block::broadcast` and that of a role do.
///
/// # Safety
///
/// As for [`reduce_in`], and `rank < N`.
#[inline(always)]
pub(crate) unsafe fn broadcast_in<G: CollectiveGroup, T: Element, const N: usize>(
    values: &isa::PerThread<T, N>,
    rank: usize,
) -> T {
    let scratch = Scratch::<T>::of::<G>();
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let write = |own: usize| {
        if own == rank {
            // SAFETY: this thread alone accesses the group's result between these two barriers.
            unsafe { scratch.write_result(values.get(own)) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, write) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    // SAFETY: written before the barrier, and not again before another one.
    unsafe { scratch.read_result() }
}

/// Combines the values of each warp of a group of `threads` threads in a tree; lane 0 has the
/// result.
///
/// # Safety
///
/// All threads of the group that the values are of make this call, converged: a block with the
/// number of threads that the type says, a role of that many threads in whole warps, or a warp.
#[inline(always)]
pub(crate) unsafe fn reduce_lanes<T: Element, L: Lanes<T>>(values: &L, threads: usize, op: &impl Fn(T, T) -> T) -> L {
    let mut result = values.duplicate();
    let mut distance = 1;
    while distance < WARP {
        // SAFETY: the caller's promise.
        let right = unsafe { result.lane_above(distance) };
        result.update_ranks(|rank, value| {
            // The last warp of a block may have fewer lanes.
            let there = threads.is_multiple_of(WARP) || rank + distance < threads;
            if rank % WARP + distance < WARP && there {
                *value = op(*value, right.of_rank(rank));
            }
        });
        distance *= 2;
    }
    result
}

/// Combines the value of each lane with those of all lower lanes of its warp.
///
/// # Safety
///
/// As for [`reduce_lanes`].
#[inline(always)]
pub(crate) unsafe fn scan_lanes<T: Element, L: Lanes<T>>(values: &L, op: &impl Fn(T, T) -> T) -> L {
    let mut result = values.duplicate();
    let mut distance = 1;
    while distance < WARP {
        // SAFETY: the caller's promise.
        let left = unsafe { result.lane_below(distance) };
        result.update_ranks(|rank, value| {
            if rank % WARP >= distance {
                *value = op(left.of_rank(rank), *value);
            }
        });
        distance *= 2;
    }
    result
}
