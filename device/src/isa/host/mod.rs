//! The model of each instruction for the CPU: one OS thread runs a whole block.
//!
//! Block-level code runs once, per-thread closures once for each rank, in order. What makes this more than a sequential
//! program is the [`model`]: copies land when the schedule says so, memory in flight and released tiles are poisoned, and
//! a copy into memory that threads may still be reading is reported as the race that it would be on a GPU.

pub(crate) mod block;
mod model;

use crate::engine::Pending;
use block::with_block;

/// `%ctaid.x`: the block's index.
pub(crate) fn block_index() -> u32 {
    with_block(|block| block.index)
}

/// `%nctaid.x`: the number of blocks.
pub(crate) fn grid_blocks() -> u32 {
    with_block(|block| block.grid)
}

/// Runs `body` with every rank of the block in turn.
#[inline(always)]
pub(crate) fn for_each_thread(threads: usize, body: impl Fn(usize)) {
    for rank in 0..threads {
        block::enter_thread(rank);
        body(rank);
    }
    block::leave_threads();
}

/// `bar.sync 0`: what all threads copied and waited for is visible to all of them from here on, and none of them reads a
/// tile any more that was released before.
///
/// # Safety
///
/// None here; on the GPU all threads of the block execute this call, in converged code.
pub(crate) unsafe fn barrier() {
    with_block(|block| block.model.barrier());
}

/// The block's dynamic shared memory.
pub(crate) fn shared_base() -> *mut u8 {
    with_block(|block| block.arena.start())
}

/// `st.global`: writes one value to global memory.
///
/// # Safety
///
/// `to` is aligned and valid for writes of a `T`.
#[inline(always)]
pub(crate) unsafe fn store_global<T: bytemuck::Pod>(to: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
}

/// `cp.async`: an asynchronous copy of `width` bytes, of which the first `valid` are read and the others are zero.
///
/// # Safety
///
/// 0. `width` is 16, 8 or 4.
/// 1. `to` is memory of the block's arena, valid for `width` bytes; nobody accesses them until the copy has landed.
/// 2. `from` is valid for reads of `valid <= width` bytes until the block ends.
pub(crate) unsafe fn cp_async(to: *mut u8, from: *const u8, valid: u32, width: usize) {
    // SAFETY: the caller's promises.
    with_block(|block| unsafe { block.model.copy(to, from, valid, width as u32) });
}

/// `cp.async.commit_group`: closes the group of copies.
pub(crate) fn cp_async_commit_group() {
    with_block(|block| block.model.commit());
}

/// `cp.async.wait_group`: every thread's own copies of all but the youngest `P::GROUPS` groups have landed; a barrier makes
/// them visible to the others.
pub(crate) fn cp_async_wait_group<P: Pending>() {
    with_block(|block| block.model.wait(P::GROUPS));
}

/// `cp.async.wait_all`: every thread's own copies have landed.
pub(crate) fn cp_async_wait_all() {
    with_block(|block| {
        block.model.commit();
        block.model.wait(0);
    });
}

/// `ld.global`, `st.shared`: stores one element, or zeros if it is not `valid`; a barrier makes it visible to the others.
///
/// # Safety
///
/// 0. `to` is memory of the block's arena, aligned and valid for a `T`, which nobody accesses before the next barrier.
/// 1. If `valid`, `from` is aligned and valid for reads of a `T` until the block ends.
pub(crate) unsafe fn copy_through_register<T: bytemuck::Pod>(to: *mut T, from: *const T, valid: bool) {
    let bytes = size_of::<T>() as u32;
    let valid = if valid { bytes } else { 0 };
    // SAFETY: the caller's promises.
    with_block(|block| unsafe { block.model.store(to.cast(), from.cast(), valid, bytes) });
}

/// Notes that threads may go on reading these bytes until the next barrier, and that nobody may after it.
pub(crate) fn released(first: *const u8, bytes: usize) {
    with_block(|block| block.model.released(first, bytes));
}

/// One value a thread: an array with one for each rank.
pub(crate) struct PerThread<T, const THREADS: usize>([T; THREADS]);

impl<T: Copy, const THREADS: usize> PerThread<T, THREADS> {
    /// Computes each thread's value from its rank.
    pub(crate) fn new(value: impl Fn(usize) -> T) -> Self {
        let values = core::array::from_fn(|rank| {
            block::enter_thread(rank);
            value(rank)
        });
        block::leave_threads();
        PerThread(values)
    }

    /// Updates each thread's value.
    pub(crate) fn update(&mut self, update: impl Fn(usize, &mut T)) {
        for (rank, value) in self.0.iter_mut().enumerate() {
            block::enter_thread(rank);
            update(rank, value);
        }
        block::leave_threads();
    }

    /// The value of the thread of rank `rank`.
    pub(crate) fn get(&self, rank: usize) -> T {
        self.0[rank]
    }
}
