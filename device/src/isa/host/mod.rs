//! The model of each instruction for the CPU: one OS thread runs a whole block or one role.
//!
//! Block-level code runs once, role-level code once for each role (or for each warpgroup that runs
//! apart, as if it were a role), per-thread closures once for each rank, in order. What makes this
//! more than a sequential program is the [`model`]: copies land when the schedule says so, memory
//! in flight and released tiles are poisoned, and a copy into memory that threads may still be
//! reading is reported as the race that it would be on a GPU. Of the [`roles`] of a block one runs
//! at a time; a [`scheduler`] says which, and finds deadlocks.

mod atomics;
pub(crate) mod block;
mod math;
mod mbarrier;
mod model;
pub(crate) mod panics;
mod product;
mod random;
mod roles;
mod schedule;
mod scheduler;
mod synchronise;
mod threads;

#[cfg(test)]
mod tests;

pub(crate) use atomics::*;
pub(crate) use math::*;
pub use product::Instructions;
pub(crate) use product::by_hand::*;
pub(crate) use product::*;
pub(crate) use roles::{divide, restore_registers, share_registers};
pub use schedule::Schedule;
pub(crate) use synchronise::*;
pub(crate) use threads::*;

use super::{ContractText, PendingGroups, Readers, SharedOrigin};
use block::{step, with_block};

/// Tells the builder the running kernel's contract. Nothing here.
pub(crate) fn contract<C: ContractText>() {
    let _ = (C::FIRST, C::BYTES);
}

/// `%ctaid.x`: the block's index.
pub(crate) fn block_index() -> u32 {
    with_block(|block| block.place().index)
}

/// `%nctaid.x`: the number of blocks.
pub(crate) fn grid_blocks() -> u32 {
    with_block(|block| block.place().grid)
}

/// The next kernel may start: here launches run one after the other.
pub(crate) fn launch_dependents() {}

/// The same number, of which the compiler knows nothing; no instruction.
pub(crate) fn opaque(number: usize) -> usize {
    number
}

/// The same number: as [`opaque`].
pub(crate) fn opaque_here(number: usize) -> usize {
    number
}

/// The same rank.
pub(crate) fn rank_here(rank: usize) -> usize {
    rank
}

/// `bar.sync 0`: what all threads copied and waited for is visible to all of them from here on, and
/// none of them reads a tile any more that was released before.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
///
/// # Panics
///
/// Inside a role: the other threads would never arrive.
pub(crate) unsafe fn barrier() {
    assert!(!roles::is_role(), "a barrier of the whole block inside a role: the other roles would never come");
    step(|block| block.model.barrier());
}

/// `barrier.sync 0`: a barrier of all threads of a block of `THREADS` that took different
/// control-flow paths.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn reconverge<const THREADS: usize>() {
    // SAFETY: the caller's promise: all threads of the block make the call. One OS thread makes it
    // for all of them, so they are converged.
    unsafe { barrier() };
}

/// `bar.warp.sync`: what the warp's threads copied and waited for is visible to all of them from
/// here on.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn warp_barrier() {
    step(|block| block.model.warp_barrier());
}

/// What a thread copied itself and waited for is visible to it.
pub(crate) fn own_copies_landed() {
    step(|block| block.model.land_arrived());
}

/// The block's dynamic shared memory.
pub(crate) fn shared_base() -> *mut u8 {
    with_block(|block| block.place().shared)
}

/// The address of the block's dynamic shared memory.
pub(crate) fn shared_address() -> usize {
    shared_base().addr()
}

/// No register has it here.
pub(crate) fn shared_origin_here() -> SharedOrigin {
    None
}

/// The collectives' shared memory, 41 slots of 16 bytes, aligned to 16.
pub(crate) fn scratch() -> *mut u8 {
    with_block(|block| block.place().scratch)
}

/// 16 bytes of zeros, aligned to 16.
pub(crate) fn zeros() -> *const u8 {
    static ZEROS: block::Aligned<16> = block::Aligned([0; 16]);
    ZEROS.0.as_ptr()
}

/// `st.shared`: writes one value to shared memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_shared<T: bytemuck::Pod>(to: *mut T, value: T) {
    with_block(|block| block.model.written(to.addr(), size_of::<T>()));
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
}

/// `st.shared`: writes 16 bytes in a row to shared memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_shared_row<T: bytemuck::Pod, const N: usize>(to: *mut T, values: [T; N]) {
    with_block(|block| block.model.written(to.addr(), size_of::<[T; N]>()));
    // SAFETY: the caller's promise; what is aligned to 16 is aligned for a `T` of at most 16 bytes.
    unsafe { to.cast::<[T; N]>().write(values) };
}

/// `st.global`: writes a row of values to global memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_global_row<T: bytemuck::Pod, const N: usize>(to: *mut T, values: [T; N]) {
    // SAFETY: valid for `N` values (0). An alignment divides its type's size and is at most 16 (1),
    // so what the row is aligned to (0) includes that of a `T`.
    unsafe { to.cast::<[T; N]>().write(values) };
}

/// `st.global`: writes one value to global memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_global<T: bytemuck::Pod>(to: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
}

/// `ld.global.nc`: reads one value from global memory that nobody writes during the launch.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn load_input<T: bytemuck::Pod>(from: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { from.read() }
}

/// `ld.global.nc`: reads a row of values from global memory that nobody writes during the launch,
/// in accesses of `width` bytes.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn load_input_row<T: bytemuck::Pod, const N: usize>(from: *const T, width: usize) -> [T; N] {
    assert!(
        from.addr().is_multiple_of(width) && size_of::<[T; N]>().is_multiple_of(width),
        "the width of a row's parts"
    );
    // SAFETY: valid for reads of `N` values and aligned for a `T` (0, 1).
    unsafe { from.cast::<[T; N]>().read() }
}

/// `cp.async`: an asynchronous copy of `width` bytes, of which the first `valid` are read and the
/// others are zero.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn cp_async(to: *mut u8, from: *const u8, valid: u32, width: usize) {
    step(|block| {
        block.check_destination(to, width);
        // SAFETY: the caller's promises.
        unsafe { block.model.copy(to, from, valid, width as u32) };
    });
}

/// `cp.async` without a source size: an asynchronous copy of `width` bytes.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn cp_async_whole(to: *mut u8, from: *const u8, width: usize) {
    // SAFETY: the caller's promises.
    unsafe { cp_async(to, from, width as u32, width) };
}

/// `cp.async.commit_group`: closes the group of copies.
pub(crate) fn cp_async_commit_group() {
    step(|block| block.model.commit());
}

/// `cp.async.wait_group`: every thread's own copies of all but the youngest `P::GROUPS` groups have
/// landed. A barrier makes them visible to the others.
pub(crate) fn cp_async_wait_group<P: PendingGroups>() {
    step(|block| block.model.wait(P::GROUPS));
    roles::waited_for_copies();
}

/// `cp.async.wait_all`: every thread's own copies have landed.
pub(crate) fn cp_async_wait_all() {
    step(|block| {
        block.model.commit();
        block.model.wait(0);
    });
    roles::waited_for_copies();
}

/// `ld.global`, `st.shared`: stores one element, or zeros if it is not `valid`; a barrier makes it
/// visible to the others.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn copy_through_register<T: bytemuck::Pod>(to: *mut T, from: *const T, valid: bool) {
    let bytes = size_of::<T>() as u32;
    let valid = if valid { bytes } else { 0 };
    step(|block| {
        block.check_destination(to.cast(), size_of::<T>());
        // SAFETY: the caller's promises.
        unsafe { block.model.store(to.cast(), from.cast(), valid, bytes) };
    });
}

/// Notes that threads may go on reading these bytes until the next barrier of that kind, and that
/// nobody may after it.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn released(first: *const u8, bytes: usize, readers: Readers) {
    step(|block| {
        // SAFETY: the caller's promise.
        unsafe { block.model.released(first, bytes, readers) };
    });
}
