//! Any number of stages through the driver.

use tilepipe::{Block, F32x4, I32x4, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::{Compute, NeighbourSum, Number, Reverse};

/// Computes on one tile while the next `STAGES - 1` are copied (the guide's `with_staging_unified`).
#[kernel(
    instances(
        T = [i32, u32, f32, f64, I32x4, F32x4],
        C = [NeighbourSum],
        THREADS = [128, 256, 512, 1024],
        STAGES = [1, 2, 3, 4, 5, 6, 7, 8],
    ),
    instances(T = [i32], C = [Reverse], THREADS = [256], STAGES = [3]),
)]
pub fn with_staging_unified<T: Number, C: Compute<T, THREADS>, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], STAGES>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        batches.len(),
        |stage, batch| stage.copy(batches.get(batch)),
        |tile, batch| {
            let dst = results.get_mut(batch);
            block.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
        },
    );
}
