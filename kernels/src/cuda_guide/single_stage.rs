//! A pipeline of one stage: asynchronous, but nothing to overlap with.

use tilepipe::{Block, F32x4, I32x4, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::{Compute, NeighbourSum, Number};

/// Copies a tile asynchronously and waits for it at once (the guide's `with_single_stage`).
#[kernel(instances(
    T = [i32, u32, f32, f64, I32x4, F32x4],
    C = [NeighbourSum],
    THREADS = [128, 256, 512, 1024],
))]
pub fn with_single_stage<T: Number, C: Compute<T, THREADS>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 1>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}
