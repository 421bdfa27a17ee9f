//! Single copies without a pipeline.

use tilepipe::{Block, F32x4, I32x4, Shared, Stages, Tiles, TilesMut, hoist_bounds, kernel};

use crate::compute::{Compute, NeighbourSum, Number};

/// Copies a tile, waits for it, computes, synchronises (the guide's `with_memcpy_async`).
#[kernel(instances(T = [i32, u32, f32, f64, I32x4, F32x4], C = [NeighbourSum], THREADS = [128, 256, 512]))]
pub fn with_memcpy_async<T: Number, C: Compute<T, THREADS>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 1>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        let mut memory = shared;
        for batch in 0..batches.len() {
            let tile = memory.copy(&block, batches.get(batch)).wait();
            let dst = results.get_mut(batch);
            block.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
            memory = tile.release(&block);
        }
    });
}

/// Starts the next copy before it waits for the one before, `wait_prior` instead of `wait`, with
/// memory for both.
#[kernel(instances(T = [i32, u32, f32, f64, I32x4, F32x4], C = [NeighbourSum], THREADS = [128, 256, 512]))]
pub fn with_memcpy_async_prior<T: Number, C: Compute<T, THREADS>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        if batches.len() == 0 {
            return;
        }
        let mut queue = shared.queue(&block).copy(batches.get(0)).weaken();
        for batch in 1..batches.len() {
            let (q, tile) = queue.copy(batches.get(batch)).wait_prior();
            let dst = results.get_mut(batch - 1);
            block.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
            queue = q.release(tile);
        }
        let (queue, tile) = queue.wait_prior();
        let dst = results.get_mut(batches.len() - 1);
        block.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
        let _ = queue.release(tile);
    });
}
