//! One copy at a time, with two barriers a tile.

use tilepipe::entry::RawElements;

use crate::device::{
    THREADS, View, all_whole, barrier, commit, copy_tile, shared_base, wait_all, wait_group, write_neighbour_sum,
};

#[unsafe(export_name = "__tilepipe_bounds__twin_with_memcpy_async__i32_NeighbourSum_256")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// Copies a tile, waits for it, computes, synchronises.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, one stage of dynamic shared memory, and an input and
/// an output in `input` and `out`.
#[unsafe(export_name = "twin_with_memcpy_async__i32_NeighbourSum_256")]
unsafe extern "C" fn with_memcpy_async(input: RawElements, out: RawElements) {
    let (input, out) = (View::<i32>::new(input), View::<i32>::new(out));
    // SAFETY: all tiles are whole where that is said.
    unsafe {
        if all_whole(&input, &out) {
            run::<true>(&input, &out);
        } else {
            run::<false>(&input, &out);
        }
    }
    wait_all();
}

/// All of the block's tiles.
///
/// # Safety
///
/// All threads of the block make this call. If `WHOLE` the tiles lie within their views as a whole,
/// and there are as many of both.
#[inline(always)]
unsafe fn run<const WHOLE: bool>(input: &View<i32>, out: &View<i32>) {
    for index in 0..input.tiles() {
        // SAFETY: the shared memory is one stage, which nobody reads before the wait and the
        // barrier nor after the round's second one; the tile's first bytes are readable for the
        // whole launch. Every thread takes the same way to each barrier.
        unsafe {
            copy_tile::<i32, WHOLE>(shared_base(), input.source(index));
            commit();
            wait_group::<0>();
            barrier();
        }
        let (to, len) = out.checked_tile::<WHOLE>(index);
        // SAFETY: the tile has landed; the output's tile has `len` elements, which this block alone
        // writes.
        unsafe {
            write_neighbour_sum(shared_base().cast_const().cast(), to, len);
            barrier();
        }
    }
}
