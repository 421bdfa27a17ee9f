//! One copy at a time, with two barriers a tile.

use tilepipe::entry::RawParameter;

use crate::device::{
    THREADS, View, barrier, commit, copy_tile, shared_base, wait_all, wait_group, write_neighbour_sum,
};

#[unsafe(export_name = "__tilepipe_threads__twin_with_memcpy_async__i32_NeighbourSum_256")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// Copies a tile, waits for it, computes, synchronises.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, one stage of dynamic shared memory, and an input and an output in `input` and `out`.
#[unsafe(export_name = "twin_with_memcpy_async__i32_NeighbourSum_256")]
unsafe extern "C" fn with_memcpy_async(input: RawParameter, out: RawParameter) {
    let (input, out) = (View::<i32>::new(input), View::<i32>::new(out));
    for index in 0..input.tiles {
        // SAFETY: the shared memory is one stage, which nobody reads before the wait and the barrier nor after the round's second
        // one; the tile's first bytes are readable for the whole launch. Every thread takes the same way to each barrier.
        unsafe {
            copy_tile::<i32, false>(shared_base(), input.source(index));
            commit();
            wait_group::<0>();
            barrier();
        }
        out.check(index);
        let (to, len) = out.tile(index);
        // SAFETY: the tile has landed; the output's tile has `len` elements, which this block alone writes.
        unsafe {
            write_neighbour_sum(shared_base().cast_const().cast(), to, len);
            barrier();
        }
    }
    wait_all();
}
