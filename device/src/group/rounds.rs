//! What the collectives of the block, of roles and of warps are made of: rounds of lanes, and
//! values that go through scratch memory between barriers.
//!
//! # Who may use the scratch memory when
//!
//! A group has a slot for each of its warps and one for its result. Two rules hold wherever its
//! threads begin a collective or end one, and so no collective needs a barrier before its first
//! write (docs/decisions/61):
//!
//! 0. *Nobody accesses the slots of the warps.* A collective that uses them begins by writing them,
//!    and ends their last read before its last barrier.
//! 1. *Threads may still read the result.* Each reads it as the last thing in a collective. So a
//!    collective writes it only after a barrier of its own, which each thread reaches after that
//!    read.
//!
//! Both hold at the start of the kernel and of a role's closure. The slots of a role's warps are
//! those of the block's, which nobody accesses by (0) of the block's last collective; the slots of
//! results are different ones, and two partitions have barriers of the block between them.

use core::cell::Cell;

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
    let write = |rank: usize| {
        if rank.is_multiple_of(WARP) {
            // SAFETY: the warp's own slot, which nobody accesses (0), and nobody else does before
            // the next barrier.
            unsafe { scratch.write(rank / WARP, warps.get(rank)) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, write) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    let combine = |rank: usize| {
        if rank == 0 {
            // SAFETY: the warps' slots were written before the barrier. They are read before the
            // next one, which ends that (0).
            let mut result = unsafe { scratch.read(0) };
            for warp in 1..N.div_ceil(WARP) {
                // SAFETY: the same.
                result = op(result, unsafe { scratch.read(warp) });
            }
            // SAFETY: each thread read an earlier result before the barrier (1), and this thread
            // alone accesses it before the next one.
            unsafe { scratch.write_result(result) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, combine) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    // SAFETY: written before the barrier, and not again before another one (1).
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
    // SAFETY: the caller's promise.
    let scratch = unsafe { share_ends::<G, T, N>(&scanned) };
    let combine = |rank: usize, value: &mut T| {
        // SAFETY: between the barriers that `share_ends` asks for.
        if let (Some(before), _) = unsafe { ends::<T, N>(&scratch, rank, None, &op) } {
            *value = op(before, *value);
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call, N in all.
    unsafe { scanned.update_members(G::MEMBERS, combine) };
    // This barrier ends the reads of the warps' slots (0).
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    scanned
}

/// What `Block::scan_with_total` and that of a role do.
///
/// # Safety
///
/// As for [`reduce_in`].
#[inline(always)]
pub(crate) unsafe fn scan_with_total_in<G: CollectiveGroup, T: Element, const N: usize>(
    values: &isa::PerThread<T, N>,
    op: impl Fn(T, T) -> T,
) -> (isa::PerThread<T, N>, T) {
    // SAFETY: the caller's promise: the group has `N` threads, and a role has whole warps.
    let mut scanned = unsafe { scan_lanes(values, &op) };
    // SAFETY: the caller's promise.
    let scratch = unsafe { share_ends::<G, T, N>(&scanned) };
    // Each thread combines all ends, and has the total from that: the same in all, since `op` can't
    // tell threads apart (SOUNDNESS.md, R3 and R5).
    let total = Cell::new(T::zeroed());
    let combine = |rank: usize, value: &mut T| {
        // SAFETY: between the barriers that `share_ends` asks for.
        let (before, all) = unsafe { ends::<T, N>(&scratch, rank, None, &op) };
        if let Some(before) = before {
            *value = op(before, *value);
        }
        total.set(all);
    };
    // SAFETY: the caller's promise: the group's threads make this call, N in all.
    unsafe { scanned.update_members(G::MEMBERS, combine) };
    // This barrier ends the reads of the warps' slots (0).
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    (scanned, total.get())
}

/// What `Block::exclusive_scan` and that of a role do.
///
/// # Safety
///
/// As for [`reduce_in`].
#[inline(always)]
pub(crate) unsafe fn exclusive_scan_in<G: CollectiveGroup, T: Element, const N: usize>(
    values: &isa::PerThread<T, N>,
    initial: T,
    op: impl Fn(T, T) -> T,
) -> (isa::PerThread<T, N>, T) {
    // SAFETY: the caller's promise: the group has `N` threads, and a role has whole warps.
    let scanned = unsafe { scan_lanes(values, &op) };
    // SAFETY: the caller's promise, the same.
    let mut prefixes = unsafe { scanned.lane_below(1) };
    // SAFETY: the caller's promise.
    let scratch = unsafe { share_ends::<G, T, N>(&scanned) };
    // As in `scan_with_total_in`.
    let total = Cell::new(T::zeroed());
    let combine = |rank: usize, value: &mut T| {
        // SAFETY: between the barriers that `share_ends` asks for.
        let (before, all) = unsafe { ends::<T, N>(&scratch, rank, Some(initial), &op) };
        let before = before.unwrap_or(initial);
        *value = if rank.is_multiple_of(WARP) { before } else { op(before, *value) };
        total.set(all);
    };
    // SAFETY: the caller's promise: the group's threads make this call, N in all.
    unsafe { prefixes.update_members(G::MEMBERS, combine) };
    // This barrier ends the reads of the warps' slots (0).
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    (prefixes, total.get())
}

/// Puts the last value of each warp in its slot, for all threads of the group after the
/// barrier that this ends with. They read it before another one.
///
/// # Safety
///
/// As for [`reduce_in`].
#[inline(always)]
unsafe fn share_ends<G: CollectiveGroup, T: Element, const N: usize>(scanned: &isa::PerThread<T, N>) -> Scratch<T> {
    let scratch = Scratch::<T>::of::<G>();
    let write = |rank: usize| {
        if rank % WARP == WARP - 1 || rank == N - 1 {
            // SAFETY: the warp's own slot, which nobody accesses (0), and nobody else does before
            // the next barrier.
            unsafe { scratch.write(rank / WARP, scanned.get(rank)) };
        }
    };
    // SAFETY: the caller's promise: the group's threads make this call.
    unsafe { isa::for_each_member(G::MEMBERS, write) };
    // SAFETY: the caller's promise.
    unsafe { G::sync() };
    scratch
}

/// Combines `initial`, if there is one, with what the warps below that of the thread of rank `rank`
/// have shared, from left to right, which is `None` if there is neither; and with what all warps
/// have.
///
/// Every thread combines what all warps share, and keeps what belongs to its own: with a number of
/// warps that is known, in wide loads and without a branch, that is less than to end at its own
/// warp, and no thread has to hand the total to the others.
///
/// # Safety
///
/// This is between the barrier of [`share_ends`] and the one after it, for a thread of its group of
/// `N` threads.
#[inline(always)]
unsafe fn ends<T: Element, const N: usize>(
    scratch: &Scratch<T>,
    rank: usize,
    initial: Option<T>,
    op: &impl Fn(T, T) -> T,
) -> (Option<T>, T) {
    let (mut before, mut all) = (initial, initial);
    for warp in 0..N.div_ceil(WARP) {
        // SAFETY: the slots of all warps were written before the barrier, and not again before
        // another one.
        let end = unsafe { scratch.read(warp) };
        all = Some(match all {
            Some(all) => op(all, end),
            None => end,
        });
        if warp < rank / WARP {
            before = all;
        }
    }
    // There is a warp.
    (before, all.unwrap_or_else(T::zeroed))
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
    // This barrier ends the reads of an earlier result (1).
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
    // SAFETY: written before the barrier, and not again before another one (1).
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

/// Combines `initial` with the values of all lower lanes of a warp, for each lane; and with those
/// of all 32, the same in all lanes.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
pub(crate) unsafe fn exclusive_scan_lanes<T: Element>(
    values: &isa::PerLane<T>,
    initial: T,
    op: &impl Fn(T, T) -> T,
) -> (isa::PerLane<T>, T) {
    // SAFETY: the caller's promise.
    let mut combined = unsafe { scan_lanes(values, op) };
    combined.update_ranks(|_, value| *value = op(initial, *value));
    // SAFETY: the caller's promise.
    let mut prefixes = unsafe { combined.lane_below(1) };
    prefixes.update_ranks(|rank, value| {
        if rank.is_multiple_of(WARP) {
            *value = initial;
        }
    });
    // SAFETY: the caller's promise.
    (prefixes, unsafe { combined.of_lane(WARP - 1) })
}
