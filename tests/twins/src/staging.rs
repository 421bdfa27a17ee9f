//! Two stages by hand: fill, then wait, with two barriers a tile.

use tilepipe::entry::RawElements;

use crate::device::{
    THREADS, View, all_whole, barrier, commit, copy_tile, shared_base, wait_all, wait_group, write_neighbour_sum,
};

/// Bytes of a stage.
const STAGE: usize = THREADS * size_of::<i32>();

#[unsafe(export_name = "__tilepipe_bounds__twin_with_staging__i32_NeighbourSum_256")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// Computes on one tile while the next one is copied.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, two stages of dynamic shared memory, and an input and
/// an output in `input` and `out`.
#[unsafe(export_name = "twin_with_staging__i32_NeighbourSum_256")]
unsafe extern "C" fn with_staging(input: RawElements, out: RawElements) {
    let (input, out) = (View::<i32>::new(input), View::<i32>::new(out));
    // SAFETY: every thread makes these calls; all tiles are whole where that is said.
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
    if input.tiles() == 0 {
        return;
    }
    let (mut head, mut tail) = (0, 0);
    // SAFETY: every thread takes the same way, so each barrier is the block's. A stage is filled
    // behind a barrier that came after its last reads, and read behind the wait and the barrier
    // that follow its filling.
    unsafe {
        fill::<WHOLE>(input, 0, &mut head);
        for index in 1..input.tiles() {
            barrier();
            fill::<WHOLE>(input, index, &mut head);
            wait_group::<1>();
            barrier();
            consume::<WHOLE>(out, index - 1, &mut tail);
        }
        wait_group::<0>();
        barrier();
        consume::<WHOLE>(out, input.tiles() - 1, &mut tail);
    }
}

/// Fills the next stage with the block's tile `index`.
///
/// # Safety
///
/// `index < input.tiles()`, nobody reads that stage, and if `WHOLE` the tile lies within the view
/// as a whole.
#[inline(always)]
unsafe fn fill<const WHOLE: bool>(input: &View<i32>, index: usize, head: &mut u32) {
    // SAFETY: the stage lies in the shared memory; the tile's first bytes are readable for the
    // whole launch.
    unsafe { copy_tile::<i32, WHOLE>(shared_base().add(*head as usize), input.source(index)) };
    *head = after(*head);
    commit();
}

/// Computes on the next stage, which holds the block's tile `index`.
///
/// # Safety
///
/// The tile has landed; if `WHOLE` the output's tile lies within its view as a whole.
#[inline(always)]
unsafe fn consume<const WHOLE: bool>(out: &View<i32>, index: usize, tail: &mut u32) {
    let tile = shared_base().wrapping_add(*tail as usize);
    *tail = after(*tail);
    let (to, len) = out.checked_tile::<WHOLE>(index);
    // SAFETY: the tile has landed; the output's tile has `len` elements, which this block alone
    // writes.
    unsafe { write_neighbour_sum(tile.cast(), to, len) };
}

/// The stage after the one at `position`.
#[inline(always)]
fn after(position: u32) -> u32 {
    let next = position + STAGE as u32;
    if next == 2 * STAGE as u32 { 0 } else { next }
}
