//! Several stages of tiles with neighbours, which the copy engine fills, and an element a thread.
//!
//! It is written for its speed: rounds are unrolled by the stages, so that a stage's addresses are
//! constants and no register has its number; tiles count in 32 bits; and what is no whole tile with
//! all of its neighbours is read where it lies.

use tilepipe::entry::RawElements;

use super::HALO;
use crate::device::{
    Store, THREADS, View, barrier, barrier_address, block_index, check_tiles, grid_blocks, rank, shared_base,
    tilepipe_bulk_copy, tilepipe_fence_mbarrier_init, tilepipe_fence_proxy_async, tilepipe_mbarrier_arrive_expect_tx,
    tilepipe_mbarrier_init, tilepipe_mbarrier_wait,
};

/// Elements of a tile without its neighbours: one for each thread.
const LEN: usize = THREADS;
/// Elements of a window.
const TAPS: usize = 2 * HALO + 1;
/// Bytes of a tile with its neighbours.
const STAGE: usize = (LEN + 2 * HALO) * size_of::<i32>();

#[unsafe(export_name = "__tilepipe_bounds__twin_moving_average_bulk__i32_256_2")]
static REQUIRED_THREADS_2: u32 = THREADS as u32;
#[unsafe(export_name = "__tilepipe_bounds__twin_moving_average_bulk__i32_256_4")]
static REQUIRED_THREADS_4: u32 = THREADS as u32;

/// The mean of each element and its neighbours, with two stages.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, the dynamic shared memory of two stages and of a
/// barrier for each, and an input and an output in `input` and `out`.
#[unsafe(export_name = "twin_moving_average_bulk__i32_256_2")]
unsafe extern "C" fn moving_average_2(input: RawElements, out: RawElements) {
    // SAFETY: the caller's promises.
    unsafe { run::<2>(&View::new(input), &View::new(out)) };
}

/// As [`moving_average_2`] with four stages.
///
/// # Safety
///
/// As for [`moving_average_2`].
#[unsafe(export_name = "twin_moving_average_bulk__i32_256_4")]
unsafe extern "C" fn moving_average_4(input: RawElements, out: RawElements) {
    // SAFETY: the caller's promises.
    unsafe { run::<4>(&View::new(input), &View::new(out)) };
}

/// The tiles that lie within both views together with their neighbours, of which the block has
/// every `step`-th from `first` on, those below `end`.
struct Inner {
    first: u32,
    end: u32,
    step: u32,
}

impl Inner {
    #[inline(always)]
    fn new(input: &View<i32>, out: &View<i32>) -> Self {
        let (block, step) = (block_index() as u32, grid_blocks() as u32);
        let end = if input.len < HALO { 0 } else { (input.len - HALO) / LEN };
        Inner { first: if block == 0 { step } else { block }, end: end.min(out.whole_below()) as u32, step }
    }
}

/// The barrier of a stage.
#[inline(always)]
fn full<const STAGES: usize>(stage: usize) -> u32 {
    barrier_address(STAGES * STAGE + 8 * stage)
}

/// The whole kernel.
///
/// # Safety
///
/// As for [`moving_average_2`], with `STAGES` stages. The views have less than 2^32 tiles less
/// those of `STAGES` rounds of the grid.
#[inline(always)]
unsafe fn run<const STAGES: usize>(input: &View<i32>, out: &View<i32>) {
    check_tiles(input, out);
    let inner = Inner::new(input, out);
    // SAFETY: one thread makes the barriers, before any other uses them, and the fence shows them
    // to the engine. Every thread takes the same way through the rounds.
    unsafe {
        if rank() == 0 {
            for stage in 0..STAGES {
                tilepipe_mbarrier_init(full::<STAGES>(stage), 1);
            }
            tilepipe_fence_mbarrier_init();
        }
        barrier();
        rounds::<STAGES>(input, out, &inner);
        edges(input, out, &inner);
    }
}

/// The inner tiles: all stages are filled, then each round waits, computes and fills again.
///
/// # Safety
///
/// All threads of the block make this call. The stages' barriers are new.
#[inline(always)]
unsafe fn rounds<const STAGES: usize>(input: &View<i32>, out: &View<i32>, inner: &Inner) {
    let (mut tile, mut ahead, mut parity) = (inner.first, inner.first, 0);
    // SAFETY: nobody reads a stage when it is filled: it is new, or the barrier of the block came
    // after the last read of its round, and the fences before that barrier show those reads to the
    // engine. A tile is read after its copy has landed, which each thread waits for. Each filled
    // stage is waited for, so that no copy outlives the block. The output's elements are the
    // threads' own.
    unsafe {
        for stage in 0..STAGES {
            fill::<STAGES>(input, ahead, inner.end, stage);
            ahead += inner.step;
        }
        if tile >= inner.end {
            return;
        }
        loop {
            for stage in 0..STAGES {
                tilepipe_mbarrier_wait(full::<STAGES>(stage), parity);
                let window = shared_base().add(stage * STAGE).cast_const().cast::<i32>().add(rank());
                mean(|tap| *window.add(tap)).store(out.base.add(tile as usize * LEN + rank()));
                tile += inner.step;
                if tile >= inner.end {
                    return;
                }
                tilepipe_fence_proxy_async();
                barrier();
                fill::<STAGES>(input, ahead, inner.end, stage);
                ahead += inner.step;
            }
            parity ^= 1;
        }
    }
}

/// Starts to fill a stage with a tile and its neighbours, if its number is below `end`: the block's
/// first thread announces the bytes and copies them.
///
/// # Safety
///
/// A tile below `end` lies in the view together with its neighbours. Nobody accesses the stage
/// until its barrier was waited for.
#[inline(always)]
unsafe fn fill<const STAGES: usize>(input: &View<i32>, tile: u32, end: u32, stage: usize) {
    if rank() != 0 || tile >= end {
        return;
    }
    // SAFETY: the neighbours lie in the view, and both addresses and the size are multiples of 16.
    unsafe {
        let from = input.base.add(tile as usize * LEN - HALO).cast_const().cast();
        tilepipe_mbarrier_arrive_expect_tx(full::<STAGES>(stage), STAGE as u32);
        tilepipe_bulk_copy(shared_base().add(stage * STAGE), from, STAGE as u32, full::<STAGES>(stage));
    }
}

/// The block's other tiles: the first one of all, and the last ones.
///
/// # Safety
///
/// All threads of the block make this call.
#[inline(always)]
unsafe fn edges(input: &View<i32>, out: &View<i32>, inner: &Inner) {
    let edge = |tile: usize| {
        let element = tile * LEN + rank();
        if element < input.len && element < out.len {
            let tap = |tap: usize| {
                // Before the start of the input this wraps to a number far above its length.
                let element = (element + tap).wrapping_sub(HALO);
                // SAFETY: the element lies in the input.
                if element < input.len { unsafe { *input.base.add(element) } } else { 0 }
            };
            // SAFETY: the element lies in the output, and is this thread's.
            unsafe { mean(tap).store(out.base.add(element)) };
        }
    };
    let (first, step) = (block_index(), grid_blocks());
    if first == 0 {
        edge(0);
    }
    let from = (inner.end as usize).max(1);
    // The block's first tile that is not below `from`.
    let mut tile = first + (from.saturating_sub(first)).div_ceil(step) * step;
    while tile < input.all() {
        edge(tile);
        tile += step;
    }
}

/// The mean of a window.
#[inline(always)]
fn mean(element: impl Fn(usize) -> i32) -> i32 {
    let mut sum = 0_i32;
    for tap in 0..TAPS {
        sum = sum.wrapping_add(element(tap));
    }
    sum / TAPS as i32
}
