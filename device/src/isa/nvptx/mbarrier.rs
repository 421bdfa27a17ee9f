//! Barriers in shared memory, barriers of roles, and the clock.
//!
//! An mbarrier counts arrivals: a phase is complete after the number of arrivals that
//! `mbarrier_init` was given, and then the next phase begins. A wait for a parity waits until the
//! phase in progress completes if that phase has this parity, and returns at once if it has the
//! other.

use core::arch::asm;

use super::threads::{PerThread, is_member, lanes_of};
use crate::isa::{Members, Part, PendingGroups, Phase, SharedOrigin, WARP};

unsafe extern "C" {
    safe fn tilepipe_thread_rank() -> u32;
    fn tilepipe_barrier_unaligned();
    fn tilepipe_warp_barrier_of(mask: u32);
    fn tilepipe_role_barrier(id: u32, threads: u32);
    fn tilepipe_role_barrier_any(id: u32, threads: u32, value: u32) -> u32;
    fn tilepipe_role_barrier_all(id: u32, threads: u32, value: u32) -> u32;
    safe fn tilepipe_shared_origin() -> u32;
    fn tilepipe_mbarrier_init(barrier: u32, arrivals: u32);
    fn tilepipe_mbarrier_inval(barrier: u32);
    fn tilepipe_mbarrier_arrive(barrier: u32);
    fn tilepipe_mbarrier_arrive_times(barrier: u32, arrivals: u32);
    fn tilepipe_cp_async_mbarrier_arrive(barrier: u32);
    fn tilepipe_mbarrier_expect_tx(barrier: u32, bytes: u32);
    fn tilepipe_mbarrier_arrive_expect_tx(barrier: u32, bytes: u32);
    fn tilepipe_bulk_copy(to: *mut u8, from: *const u8, bytes: u32, barrier: u32);
    fn tilepipe_bulk_store(to: *mut u8, from: *const u8, bytes: u32);
    safe fn tilepipe_bulk_commit_group();
    safe fn tilepipe_bulk_wait_all();
    safe fn tilepipe_bulk_zeros_base() -> *const u8;
    safe fn tilepipe_fence_proxy_async();
    safe fn tilepipe_fence_mbarrier_init();
    fn tilepipe_mbarrier_wait(barrier: u32, parity: u32);
    fn tilepipe_mbarrier_wait_briefly(barrier: u32, parity: u32);
    fn tilepipe_word_of(word: *const u32) -> u32;
    fn tilepipe_exchange_word(word: *mut u32, value: u32);
    fn tilepipe_mbarrier_try_wait(barrier: u32, parity: u32) -> u32;
    fn tilepipe_mbarrier_wait_unless(barrier: u32, parity: u32, place: u32, stage: u32) -> u32;
    fn tilepipe_mbarrier_wait_unless_in_one(barrier: u32, parity: u32, place: u32, stage: u32) -> u32;
    fn tilepipe_mbarrier_wait_unless_together(barrier: u32, parity: u32, place: u32, stage: u32) -> u32;
    fn tilepipe_mbarrier_wait_unless_together_in_one(barrier: u32, parity: u32, place: u32, stage: u32) -> u32;
    fn tilepipe_mbarrier_poll(barrier: u32, parity: u32) -> u32;
    safe fn tilepipe_clock() -> u64;
}

/// The address of an mbarrier in the block's dynamic shared memory, which has 32 bits.
pub(crate) type Mbarrier = u32;

/// The mbarrier at this byte offset into the block's dynamic shared memory.
#[inline(always)]
pub(crate) fn mbarrier_at(offset: usize) -> Mbarrier {
    tilepipe_shared_origin().wrapping_add(offset as u32)
}

/// As [`mbarrier_at`], for a role that has the memory's address in a register.
#[inline(always)]
pub(crate) fn mbarrier_from(origin: SharedOrigin, offset: usize) -> Mbarrier {
    match origin {
        Some(marked) => marked.get().wrapping_add((offset as u32).wrapping_sub(1)),
        None => mbarrier_at(offset),
    }
}

/// `barrier.sync 0`, then `bar.warp.sync`: waits for all threads of a block of `THREADS` that took
/// different control-flow paths. After it the threads of a warp have reconverged, as the aligned
/// barriers of block-level code require.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn reconverge<const THREADS: usize>() {
    // SAFETY: the caller's promise; the barrier does not ask for converged threads.
    unsafe { tilepipe_barrier_unaligned() };
    // SAFETY: the caller's promise.
    let lanes = unsafe { lanes_of::<THREADS>() };
    // SAFETY: the mask names those lanes of the warp that the block has, and all of them make the
    // call.
    unsafe { tilepipe_warp_barrier_of(lanes) };
}

/// `barrier.sync ID, N`: waits for all threads of a role and orders their memory accesses among
/// them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn role_barrier(id: u32, members: Members) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_role_barrier(id, members.count as u32) };
}

/// `barrier.red.or`: as [`role_barrier`], and returns whether any thread's value is true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn role_barrier_any<const N: usize>(id: u32, members: Members, values: &PerThread<bool, N>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_role_barrier_any(id, members.count as u32, u32::from(values.get(0))) != 0 }
}

/// `barrier.red.and`: as [`role_barrier`], and returns whether all threads' values are true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn role_barrier_all<const N: usize>(id: u32, members: Members, values: &PerThread<bool, N>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_role_barrier_all(id, members.count as u32, u32::from(values.get(0))) != 0 }
}

/// `mbarrier.init`: makes a barrier whose phases complete with `arrivals` arrivals; phase 0 is in
/// progress.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_init(barrier: Mbarrier, arrivals: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_init(barrier, arrivals) };
}

/// `mbarrier.inval`: ends the mbarrier; its memory may be used for other things.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_inval(barrier: Mbarrier) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_inval(barrier) };
}

/// `mbarrier.arrive` of every member: what each has read and written before is complete before the
/// phase is.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_arrive(barrier: Mbarrier, _: Members) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_arrive(barrier) };
}

/// `mbarrier.arrive` with a count: makes so many arrivals in one thread.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_arrive_for(barrier: Mbarrier, arrivals: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_arrive_times(barrier, arrivals) };
}

/// `mbarrier.arrive` of the first member.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_arrive_first(barrier: Mbarrier, by: Members) {
    if tilepipe_thread_rank() as usize == by.first {
        // SAFETY: the caller's promise.
        unsafe { tilepipe_mbarrier_arrive(barrier) };
    }
}

/// `bar.warp.sync`, then `mbarrier.arrive` of the first member of each warp.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_arrive_warps(barrier: Mbarrier, by: Members) {
    // SAFETY: all threads of the warp are members, which make this call.
    unsafe { super::warp_barrier() };
    if (tilepipe_thread_rank() - by.first as u32).is_multiple_of(WARP as u32) {
        // SAFETY: the caller's promise.
        unsafe { tilepipe_mbarrier_arrive(barrier) };
    }
}

/// `cp.async.mbarrier.arrive.noinc` of every member: an arrival that happens once all asynchronous
/// copies that the thread has started before have landed. It does not cover ordinary stores.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn cp_async_mbarrier_arrive(barrier: Mbarrier, _: Members) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_cp_async_mbarrier_arrive(barrier) };
}

/// `mbarrier.expect_tx`: the phase in progress waits for `bytes` bytes of bulk copies more. It is
/// no arrival.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_expect_tx(barrier: Mbarrier, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_expect_tx(barrier, bytes) };
}

/// `mbarrier.arrive.expect_tx`: the phase in progress waits for `bytes` bytes of bulk copies more,
/// and the calling thread arrives there. The arrival covers what that thread stored before.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_arrive_expect_tx(barrier: Mbarrier, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_arrive_expect_tx(barrier, bytes) };
}

/// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`: a copy of `bytes` bytes by
/// the copy engine, which counts them off the mbarrier's phase when they have landed. Whoever waits
/// for the phase then sees them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn bulk_copy(to: *mut u8, from: *const u8, bytes: u32, barrier: Mbarrier) {
    // SAFETY: the caller's promises.
    unsafe { tilepipe_bulk_copy(to, from, bytes, barrier) };
}

/// `cp.async.bulk.global`: a store of `bytes` bytes, in the calling thread's open group.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn bulk_store(to: *mut u8, from: *const u8, bytes: u32) {
    // SAFETY: the caller's promises.
    unsafe { tilepipe_bulk_store(to, from, bytes) };
}

/// `cp.async.bulk.commit_group`: closes the calling thread's group of bulk stores.
#[inline(always)]
pub(crate) fn bulk_commit_group() {
    tilepipe_bulk_commit_group();
}

/// `cp.async.bulk.wait_group.read`: waits until the engine has read the sources of all but the
/// calling thread's youngest `P::GROUPS` groups.
#[inline(always)]
pub(crate) fn bulk_wait_group_read<P: PendingGroups>() {
    // SAFETY: a wait has no effect but to order the engine's reads before what follows; the memory
    // clobber (there is no `nomem`) keeps later writes after it.
    unsafe { asm!("cp.async.bulk.wait_group.read {groups};", groups = const P::GROUPS, options(nostack)) };
}

/// `cp.async.bulk.wait_group 0`: waits until all bulk stores of the calling thread are written, and
/// visible to it.
#[inline(always)]
pub(crate) fn bulk_wait_all() {
    tilepipe_bulk_wait_all();
}

/// [`BULK_ZEROS`](crate::isa::BULK_ZEROS) bytes of zeros, aligned to 16: a source for bulk copies.
#[inline(always)]
pub(crate) fn bulk_zeros() -> *const u8 {
    tilepipe_bulk_zeros_base()
}

/// `fence.proxy.async.shared::cta`: orders the calling thread's earlier ordinary accesses to shared
/// memory before bulk copies that a barrier orders after this fence.
#[inline(always)]
pub(crate) fn fence_proxy_async() {
    tilepipe_fence_proxy_async();
}

/// `fence.mbarrier_init.release.cluster`: bulk copies that a barrier orders after this fence find
/// the mbarriers that the calling thread has made.
#[inline(always)]
pub(crate) fn fence_mbarrier_init() {
    tilepipe_fence_mbarrier_init();
}

/// `mbarrier.try_wait.parity` until it succeeds (on sm_80 `mbarrier.test_wait.parity`): waits for
/// the phase of this parity. What was ordered before its arrivals is visible to the calling thread
/// from here on.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_wait(barrier: Mbarrier, parity: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_wait(barrier, parity) };
}

/// `mbarrier.try_wait.parity` once: waits for the phase of this parity for as long as the GPU
/// suspends a thread; whether it is complete.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(super) unsafe fn mbarrier_try(barrier: Mbarrier, parity: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_try_wait(barrier, parity) != 0 }
}

/// `mbarrier.try_wait.parity` with a suspend time hint of 20 ns until it succeeds: as
/// [`mbarrier_wait`], but the thread's warp is suspended for less time at once. Threads of the same
/// warp that are on another path go on meanwhile.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_wait_briefly(barrier: Mbarrier, parity: u32) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_wait_briefly(barrier, parity) };
}

/// Waits for a phase as [`mbarrier_wait`] does, unless it is marked as one that does not come:
/// whether it is. The word is read only where the phase has not come within one
/// `mbarrier.try_wait`.
///
/// Each thread waits for itself (docs/decisions/99). Those of a whole warp that find their phase
/// marked leave together: the assembler then knows that they do. Where it does not know that the
/// barrier's address is the same in a warp, which `is_uniform` says, whole warps wait in common.
/// With `PEELED` a loop around the call is to be peeled (docs/decisions/94).
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_wait_unless<const PEELED: bool>(
    phase: Phase,
    is_uniform: bool,
    members: Members,
) -> bool {
    let Phase { barrier, parity, place, stage, .. } = phase;
    if members.are_whole_warps() {
        let wait = match (PEELED, is_uniform) {
            (true, true) => tilepipe_mbarrier_wait_unless_in_one,
            (true, false) => tilepipe_mbarrier_wait_unless_together_in_one,
            (false, true) => tilepipe_mbarrier_wait_unless,
            (false, false) => tilepipe_mbarrier_wait_unless_together,
        };
        // SAFETY: the caller's promise: all threads of each warp make this call.
        return unsafe { wait(barrier, parity, place, stage) } != 0;
    }
    loop {
        // SAFETY: the caller's promise.
        if unsafe { mbarrier_try(barrier, parity) } {
            return false;
        }
        // SAFETY: the caller's promise.
        if unsafe { is_marked(phase) } {
            return true;
        }
    }
}

/// `atom.exch`: says that this phase does not come, nor any after it.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mark_phase(phase: Phase) {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_exchange_word(phase.word, phase.mark()) };
}

/// `atom.or` of nothing: whether this phase is marked as the first that does not come.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn is_marked(phase: Phase) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_word_of(phase.word) == phase.mark() }
}

/// `mbarrier.test_wait.parity`: whether the phase of this parity is complete. If it is not, the
/// thread executes `nanosleep`. Other threads of the warp may have to complete the phase, and so
/// they get their turn however often this one polls.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn mbarrier_poll(barrier: Mbarrier, parity: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_mbarrier_poll(barrier, parity) != 0 }
}

/// Tells the model what a barrier is for: nothing on the GPU.
#[inline(always)]
pub(crate) fn mbarrier_name(_: Mbarrier, _: &'static str, _: u32) {}

/// Tells the model that all reads of a stage have ended: nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn stage_acquired(_: *mut u8, _: usize) {}

/// Tells the model that the calling role reads a stage: nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn stage_read(_: *const u8, _: usize, _: Mbarrier) {}

/// Tells the model that products of the calling role read a stage: nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn stage_multiplied(_: *const u8, _: usize, _: Mbarrier) {}

/// `%globaltimer`: nanoseconds since a moment that is the same for all threads of the GPU.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    tilepipe_clock()
}

/// What the roles of a block run: a [`Part`] for each, two to four.
pub(crate) trait Parts {
    /// What each role's body returned, to its members alone.
    type Results;

    /// Runs each body in its members.
    fn divide(self) -> Self::Results;
}

/// Runs the body of its own role in every thread. No thread is in two roles; one that is in none
/// runs nothing.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn divide<P: Parts>(parts: P) -> P::Results {
    parts.divide()
}

macro_rules! parts {
    ($($body:ident $result:ident $number:tt),*) => {
        impl<$($body: FnOnce() -> $result, $result),*> Parts for ($(Part<$body>,)*) {
            type Results = ($(Option<$result>,)*);

            /// This is one chain of branches: roles that share a warp must not wait for one another
            /// where a first branch ends.
            #[inline(always)]
            fn divide(self) -> Self::Results {
                let mut results = ($(None::<$result>,)*);
                $(if is_member(self.$number.members) {
                    results.$number = Some((self.$number.body)());
                } else)* {}
                results
            }
        }
    };
}
parts!(F0 R0 0, F1 R1 1);
parts!(F0 R0 0, F1 R1 1, F2 R2 2);
parts!(F0 R0 0, F1 R1 1, F2 R2 2, F3 R3 3);
