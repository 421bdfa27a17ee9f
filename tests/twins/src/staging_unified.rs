//! Four stages, with one barrier a tile.

use tilepipe::entry::RawElements;

use crate::device::{
    I32x4, THREADS, View, barrier, check_tiles, commit, copy_tile, shared_base, wait_all, wait_group,
    write_neighbour_sum,
};

const STAGES: usize = 4;
/// Bytes of a stage.
const STAGE: usize = THREADS * size_of::<I32x4>();

#[unsafe(export_name = "__tilepipe_bounds__twin_with_staging_unified__I32x4_NeighbourSum_CpAsync_256_4")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// Computes on one tile while the next three are copied.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, four stages of dynamic shared memory, and an input
/// and an output in `input` and `out`.
#[unsafe(export_name = "twin_with_staging_unified__I32x4_NeighbourSum_CpAsync_256_4")]
unsafe extern "C" fn with_staging_unified(input: RawElements, out: RawElements) {
    let (input, out) = (View::<I32x4>::new(input), View::<I32x4>::new(out));
    // SAFETY: the tiles below that number are whole, and there are as many of the others.
    unsafe {
        let next = drive::<true>(&input, &out, input.whole_below().min(out.whole_below()), 0);
        if input.has(next) {
            check_tiles(&input, &out);
            barrier();
            drive::<false>(&input, &out, input.all(), next);
        }
    }
    wait_all();
}

/// Prologue and steady state for the tiles from index `from` on whose numbers are below `end`.
/// Returns the index of the next tile.
///
/// # Safety
///
/// The output has these tiles, and if `WHOLE` they lie within their views as a whole. Nobody reads
/// a stage.
#[inline(always)]
unsafe fn drive<const WHOLE: bool>(input: &View<I32x4>, out: &View<I32x4>, end: usize, from: usize) -> usize {
    if !input.has_below(from, end) {
        return from;
    }
    let (mut head, mut tail, mut index) = (0, 0, from);
    // SAFETY: every thread takes the same way, so each barrier is the block's. The stage that a
    // round fills was read in the round before, ahead of this round's barrier; tile `index` has
    // landed where all but the two youngest groups have.
    unsafe {
        for ahead in from..from + (STAGES - 1) {
            fill::<WHOLE>(input, ahead, input.has_below(ahead, end), &mut head);
        }
        while input.has_below(index, end) {
            wait_group::<{ STAGES - 2 }>();
            barrier();
            let ahead = index + (STAGES - 1);
            fill::<WHOLE>(input, ahead, input.has_below(ahead, end), &mut head);
            let tile = shared_base().add(tail as usize);
            tail = after(tail);
            let (to, len) = out.tile(index);
            write_neighbour_sum(tile.cast(), to, if WHOLE { THREADS } else { len });
            index += 1;
        }
    }
    index
}

/// Fills the next stage with the block's tile `index` if it `is_there`, and closes its group in any
/// case.
///
/// # Safety
///
/// Nobody reads that stage.
#[inline(always)]
unsafe fn fill<const WHOLE: bool>(input: &View<I32x4>, index: usize, is_there: bool, head: &mut u32) {
    let stage = shared_base().wrapping_add(*head as usize);
    *head = after(*head);
    if is_there {
        // SAFETY: the stage lies in the shared memory; the tile's first bytes are readable for the
        // whole launch.
        unsafe { copy_tile::<I32x4, WHOLE>(stage, input.source(index)) };
    }
    commit();
}

/// The stage after the one at `position`.
#[inline(always)]
fn after(position: u32) -> u32 {
    let next = position + STAGE as u32;
    if next == (STAGES * STAGE) as u32 { 0 } else { next }
}
