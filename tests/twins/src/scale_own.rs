//! Four stages of which each thread copies and reads its own element: no barrier at all.

use tilepipe::entry::RawElements;

use crate::device::{
    Store, THREADS, View, check_tiles, commit, copy_own, counted_in_32_bits, rank, shared_base, wait_all, wait_group,
};

const STAGES: usize = 4;
/// Bytes of a stage.
const STAGE: usize = THREADS * size_of::<i32>();

#[unsafe(export_name = "__tilepipe_bounds__twin_scale_own__i32_CpAsync_ThreadScope_256_4")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// Three times each element.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, four stages of dynamic shared memory, and an input
/// and an output in `input` and `out`.
#[unsafe(export_name = "twin_scale_own__i32_CpAsync_ThreadScope_256_4")]
unsafe extern "C" fn scale_own(input: RawElements, out: RawElements) {
    let (input, out) = (View::<i32>::new(input), View::<i32>::new(out));
    // SAFETY: the tiles below that number are whole, and there are as many of the others.
    unsafe {
        let next = drive::<true>(&input, &out, input.whole_below().min(out.whole_below()), 0);
        if input.has(next) {
            check_tiles(&input, &out);
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
/// The output has these tiles, and if `WHOLE` they lie within their views as a whole.
#[inline(always)]
unsafe fn drive<const WHOLE: bool>(input: &View<i32>, out: &View<i32>, end: usize, from: usize) -> usize {
    if !input.has_below(from, end) {
        return from;
    }
    let (mut head, mut tail, mut index) = (0, 0, from);
    // SAFETY: a thread fills a stage with its own element after it has read the one before, and
    // reads it once its own copy has landed.
    unsafe {
        for ahead in from..from + STAGES {
            fill::<WHOLE>(input, ahead, input.has_below(ahead, end), &mut head);
        }
        let mut left = counted_in_32_bits(input.tiles_below(end)) - from as u32;
        loop {
            wait_group::<{ STAGES - 1 }>();
            let tile: *const i32 = shared_base().add(tail as usize).cast();
            tail = after(tail);
            let (to, len) = out.tile(index);
            let rank = rank();
            let value = (*tile.add(rank)).wrapping_mul(3);
            if WHOLE || rank < len {
                value.store(to.add(rank));
            }
            (index, left) = (index + 1, left - 1);
            if left == 0 {
                return index;
            }
            fill::<WHOLE>(input, index + (STAGES - 1), left as usize >= STAGES, &mut head);
        }
    }
}

/// Fills the next stage with the block's tile `index` if it `is_there`, and closes its group in any
/// case.
///
/// # Safety
///
/// The calling thread has read its element of what the stage held before.
#[inline(always)]
unsafe fn fill<const WHOLE: bool>(input: &View<i32>, index: usize, is_there: bool, head: &mut u32) {
    let stage = shared_base().wrapping_add(*head as usize);
    *head = after(*head);
    if is_there {
        // SAFETY: the stage lies in the shared memory; the tile's first bytes are readable for the
        // whole launch.
        unsafe { copy_own::<WHOLE>(stage, input.source(index)) };
    }
    commit();
}

/// The stage after the one at `position`.
#[inline(always)]
fn after(position: u32) -> u32 {
    let next = position + STAGE as u32;
    if next == (STAGES * STAGE) as u32 { 0 } else { next }
}
