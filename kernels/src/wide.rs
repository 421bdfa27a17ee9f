//! The streaming kernels of the guide with several elements a thread, in a row: 16 bytes in one
//! load, one copy and one store.
//!
//! What [`with_single_stage`](crate::with_single_stage) is in this form is
//! [`with_staging_unified_wide`] with one stage, and what
//! [`without_memcpy_async`](crate::without_memcpy_async) is, the same with
//! [`LoadStore`](tilepipe::LoadStore). A block for each tile is the fastest grid for all of them
//! (`Grid::tiles()` of the host crate; docs/performance.md).

use tilepipe::group::{InBlock, Synchronise};
use tilepipe::role::{EvenOdd, Partitioned, WarpRoles};
use tilepipe::{
    Block, BlockScope, Blocked, Bulk, CpAsync, Engine, LoadStore, Runs, Scope, Shared, Stages, ThreadScope, Tiles,
    TilesMut, hoist_bounds, kernel,
};

use crate::compute::{Compute, GroupSum, Number, Wide, next_in_group};

/// Copies a row without stages: a thread reads a run of `RUN` elements and stores it.
#[kernel(instances(T = [i32], THREADS = [128], LEN = [4 * THREADS], RUN = [4]))]
pub fn copy_reads<T: Number, const THREADS: usize, const LEN: usize, const RUN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Runs<RUN>>,
) {
    const { assert!(LEN == THREADS * RUN) };
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = results.number(i) * THREADS;
        let dst = results.get_mut(i);
        block.threads(|t| dst.set_run(&t, 0, input.run::<RUN>(first + t.rank()).0));
    }
}

/// [`with_memcpy_async`](fn@crate::with_memcpy_async) with `LEN / THREADS` elements a thread.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [128, 256], LEN = [4 * THREADS]))]
pub fn with_memcpy_async_wide<T: Number, C: Compute<T, LEN>, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], 1>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        let mut memory = shared;
        for batch in 0..batches.len() {
            let tile = memory.copy(&block, batches.get(batch)).wait();
            let dst = results.get_mut(batch);
            block.threads(|t| dst.set_each(&t, |element| C::compute(&tile, element)));
            memory = tile.release(&block);
        }
    });
}

/// [`with_memcpy_async_prior`](fn@crate::with_memcpy_async_prior) with `LEN / THREADS` elements a
/// thread.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [128, 256], LEN = [4 * THREADS]))]
pub fn with_memcpy_async_prior_wide<T: Number, C: Compute<T, LEN>, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], 2>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        if batches.len() == 0 {
            return;
        }
        let mut queue = shared.queue(&block).copy(batches.get(0)).weaken();
        for batch in 1..batches.len() {
            let (q, tile) = queue.copy(batches.get(batch)).wait_prior();
            let dst = results.get_mut(batch - 1);
            block.threads(|t| dst.set_each(&t, |element| C::compute(&tile, element)));
            queue = q.release(tile);
        }
        let (queue, tile) = queue.wait_prior();
        let dst = results.get_mut(batches.len() - 1);
        block.threads(|t| dst.set_each(&t, |element| C::compute(&tile, element)));
        let _ = queue.release(tile);
    });
}

/// [`with_staging`](fn@crate::with_staging) with `LEN / THREADS` elements a thread: a tile is
/// enough in flight, so a round waits and then fills.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [128, 256], LEN = [4 * THREADS]))]
pub fn with_staging_wide<T: Number, C: Compute<T, LEN>, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], 2>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        if batches.len() == 0 {
            return;
        }
        let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
        for batch in 1..batches.len() {
            let (p, tile) = pipe.wait();
            let p = p.acquire().copy(batches.get(batch)).commit();
            let dst = results.get_mut(batch - 1);
            block.threads(|t| dst.set_each(&t, |element| C::compute(&tile, element)));
            pipe = p.release(tile);
        }
        let (p, tile) = pipe.wait();
        let dst = results.get_mut(batches.len() - 1);
        block.threads(|t| dst.set_each(&t, |element| C::compute(&tile, element)));
        let _ = p.release(tile);
    });
}

/// [`with_staging_unified`](fn@crate::with_staging_unified) with `LEN / THREADS` elements a thread,
/// in runs of 16 bytes.
#[kernel(
    instances(T = [i32], C = [GroupSum], E = [CpAsync], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1, 2, 4]),
    instances(T = [f64], C = [GroupSum], E = [CpAsync], THREADS = [128], LEN = [2 * THREADS], STAGES = [2]),
    instances(T = [i32], C = [GroupSum], E = [LoadStore], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1]),
    instances(T = [i32], C = [GroupSum], E = [CpAsync, LoadStore], THREADS = [512], LEN = [4 * THREADS], STAGES = [1]),
    instances(T = [i32], C = [GroupSum], E = [CpAsync, LoadStore], THREADS = [64], LEN = [4 * THREADS], STAGES = [1]),
    instances(T = [i32], C = [GroupSum], E = [Bulk], THREADS = [128], LEN = [4 * THREADS], STAGES = [1, 2, 4]),
    instances(T = [i32], C = [GroupSum], E = [CpAsync, Bulk], THREADS = [128], LEN = [1024, 2048, 4096], STAGES = [1, 2, 4]),
    instances(T = [i32], C = [GroupSum], E = [Bulk], THREADS = [256], LEN = [1024, 4096], STAGES = [1, 2, 4]),
)]
pub fn with_staging_unified_wide<
    T: Wide,
    C: Compute<T, LEN>,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, T::InRuns>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| C::compute(tile, element)));
    });
}

/// [`with_staging_scope_thread`](fn@crate::with_staging_scope_thread) with `LEN / THREADS` elements
/// a thread.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1, 2, 4]))]
pub fn with_staging_scope_thread_wide<
    T: Number,
    C: Compute<T, LEN>,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).published().map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| C::compute(tile, element)));
    });
}

/// [`scale_own`](fn@crate::scale_own) with `LEN / THREADS` elements a thread.
#[kernel(
    instances(T = [i32], S = [ThreadScope, BlockScope], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1, 2, 4]),
    instances(T = [i32], S = [ThreadScope, BlockScope], THREADS = [512], LEN = [4 * THREADS], STAGES = [1]),
    instances(T = [i32], S = [ThreadScope], THREADS = [64], LEN = [4 * THREADS], STAGES = [1]),
)]
pub fn scale_own_wide<T: Number, S: Scope, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, S>>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| {
            let own = tile.own(&t);
            dst.set_each(&t, |element| own[element % (LEN / THREADS)].triple());
        });
    });
}

/// [`example_kernel`](fn@crate::example_kernel) with `LEN / THREADS` elements a thread: `3 *
/// left[i]` and what follows `right[i]` in its group.
#[kernel(instances(T = [i32], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1, 2]))]
pub fn example_kernel_wide<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: Tiles<T, LEN>,
    right: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<([T; LEN], [T; LEN]), STAGES>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            dst.set_each(&t, |element| left[element].triple().plus(right[next_in_group::<LEN>(element)]));
        });
    });
}

/// [`with_specialized_staging_unified`](fn@crate::with_specialized_staging_unified) with
/// `LEN / TILE` elements a consumer.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [256], TILE = [128], LEN = [4 * TILE], STAGES = [1, 2, 4]))]
pub fn with_specialized_staging_unified_wide<
    T: Number,
    C: Compute<T, LEN>,
    const THREADS: usize,
    const TILE: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES>>>,
) {
    let batches = input.for_block(&block);
    let roles = block.partition::<EvenOdd<TILE>>().pipeline(shared);
    let _ = roles.map_elements(&batches, &mut out, |tile, element| C::compute(tile, element));
}

/// [`with_specialized_staging_warps`](fn@crate::with_specialized_staging_warps) with
/// `LEN / CONSUMERS` elements a consumer.
#[kernel(
    instances(
        T = [i32],
        C = [GroupSum],
        THREADS = [256],
        PRODUCERS = [128],
        CONSUMERS = [128],
        LEN = [4 * CONSUMERS],
        STAGES = [1, 2, 4],
    ),
    instances(
        T = [i32],
        C = [GroupSum],
        THREADS = [160],
        PRODUCERS = [32],
        CONSUMERS = [128],
        LEN = [4 * CONSUMERS],
        STAGES = [2, 4],
    ),
)]
pub fn with_specialized_staging_warps_wide<
    T: Number,
    C: Compute<T, LEN>,
    const THREADS: usize,
    const PRODUCERS: usize,
    const CONSUMERS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES>>>,
) {
    let batches = input.for_block(&block);
    let roles = block.partition::<WarpRoles<PRODUCERS, CONSUMERS>>();
    let _ = roles.pipeline(shared).map_tiles(&batches, &mut out, |consumers, tile, dst| {
        consumers.threads(|t| dst.set_each(&t, |element| C::compute(tile, element)));
    });
}
