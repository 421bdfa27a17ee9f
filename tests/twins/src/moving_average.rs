//! One stage of tiles with neighbours, and four elements a thread.

mod bulk;

use tilepipe::entry::RawElements;

use crate::device::{
    I32x4, Store, THREADS, View, barrier, check_tiles, commit, copy_unit, rank, shared_base, wait_all, wait_group,
};

/// Elements of a thread, in a row.
const OWN: usize = 4;
/// Elements of a tile without its neighbours.
const LEN: usize = OWN * THREADS;
/// The neighbours on either side.
const HALO: usize = 8;
/// Bytes of a tile with its neighbours.
const STAGE: usize = (LEN + 2 * HALO) * size_of::<i32>();

#[unsafe(export_name = "__tilepipe_bounds__twin_moving_average_wide__i32_256_1024_1")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// The mean of each element and its neighbours.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, a stage of dynamic shared memory, and an input and an
/// output in `input` and `out`.
#[unsafe(export_name = "twin_moving_average_wide__i32_256_1024_1")]
unsafe extern "C" fn moving_average_wide(input: RawElements, out: RawElements) {
    let (input, out) = (View::<i32, LEN>::new(input), View::<i32, LEN>::new(out));
    // SAFETY: the tiles below that number are whole, and there are as many of the others.
    unsafe {
        let next = drive::<true>(&input, &out, whole_below(&input).min(out.whole_below()), 0);
        if input.has(next) {
            check_tiles(&input, &out);
            barrier();
            drive::<false>(&input, &out, input.all(), next);
        }
    }
    wait_all();
}

/// All of the block's tiles with lower numbers lie within the view together with their neighbours.
#[inline(always)]
fn whole_below(input: &View<i32, LEN>) -> usize {
    if input.number(0) == 0 || input.len < HALO { 0 } else { (input.len - HALO) / LEN }
}

/// The tiles from index `from` on whose numbers are below `end`. Returns the index of the next
/// tile.
///
/// # Safety
///
/// The output has these tiles, and if `WHOLE` they lie within their views as a whole. Nobody reads
/// the stage.
#[inline(always)]
unsafe fn drive<const WHOLE: bool>(input: &View<i32, LEN>, out: &View<i32, LEN>, end: usize, from: usize) -> usize {
    if !input.has_below(from, end) {
        return from;
    }
    let mut index = from;
    // SAFETY: every thread takes the same way, so each barrier is the block's. The stage is filled
    // after the barrier that follows its last read, and read after its copies were waited for.
    unsafe {
        fill::<WHOLE>(input, index);
        loop {
            wait_group::<0>();
            barrier();
            let (to, len) = out.tile(index);
            write_means(shared_base().cast_const().cast(), to, if WHOLE { LEN } else { len });
            index += 1;
            if !input.has_below(index, end) {
                return index;
            }
            barrier();
            fill::<WHOLE>(input, index);
        }
    }
}

/// Fills the stage with the block's tile `index` and its neighbours, and closes the group.
///
/// # Safety
///
/// There is such a tile. Nobody reads the stage.
#[inline(always)]
unsafe fn fill<const WHOLE: bool>(input: &View<i32, LEN>, index: usize) {
    let start = input.number(index) * LEN;
    let first = input.base.wrapping_add(start).wrapping_sub(HALO).cast_const().cast::<u8>();
    // What of the tile's bytes lies in the view.
    let before = if start < HALO { (HALO - start) * size_of::<i32>() } else { 0 };
    let rest = input.len - start;
    let end = if rest < LEN + HALO { (rest + HALO) * size_of::<i32>() } else { STAGE };
    // A constant number of rounds, which the compiler unrolls.
    for round in 0..(STAGE / 16).div_ceil(THREADS) {
        let unit = rank() + round * THREADS;
        if unit >= STAGE / 16 {
            break;
        }
        let offset = unit * 16;
        let bytes = if offset < before { 0 } else { (end as u32).saturating_sub(offset as u32).min(16) };
        // SAFETY: the unit lies in the stage; its first bytes are readable for the whole launch,
        // and both addresses are aligned to 16.
        unsafe { copy_unit::<true, WHOLE>(shared_base().add(offset), first.wrapping_add(offset), bytes) };
    }
    commit();
}

/// Writes the means of the calling thread's elements to an output tile of `len` elements, as many
/// of them as it has.
///
/// # Safety
///
/// `window` is a landed tile with its neighbours in shared memory that nobody writes; `to` is valid
/// for writes of `len` elements, of which no other thread writes this thread's, and aligned to 16.
#[inline(always)]
unsafe fn write_means(window: *const i32, to: *mut i32, len: usize) {
    let element = rank() * OWN;
    // SAFETY: the windows of a thread's elements lie in the tile with its neighbours.
    let mean = |lane: usize| unsafe {
        let mut sum = 0_i32;
        for tap in 0..2 * HALO + 1 {
            sum = sum.wrapping_add(*window.add(element + lane + tap));
        }
        sum / (2 * HALO as i32 + 1)
    };
    // SAFETY: the elements that are written are below `len`.
    unsafe {
        if element + OWN <= len {
            I32x4([mean(0), mean(1), mean(2), mean(3)]).store(to.add(element).cast());
        } else {
            // The last one lies in the tile only where all do.
            for lane in 0..OWN - 1 {
                if element + lane < len {
                    mean(lane).store(to.add(element + lane));
                }
            }
        }
    }
}
