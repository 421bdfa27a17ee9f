//! Each thread copies its own elements: with and without the others reading them.

use tilepipe::group::{InBlock, Synchronise};
use tilepipe::{
    Block, BlockScope, Bulk, CpAsync, Engine, F32x4, I32x4, LoadStore, Scope, Shared, Stages, ThreadScope, Tiles,
    TilesMut, WarpScope, kernel,
};

use crate::compute::{Compute, NeighbourSum, Number};

/// Each thread copies its own element, and all threads read all of them (the guide's
/// `with_staging_scope_thread`, which races as printed: `docs/thread-scope-race.md`).
#[kernel(instances(
    T = [i32, u32, f32, f64, I32x4, F32x4],
    C = [NeighbourSum],
    THREADS = [128, 256],
    STAGES = [1, 2, 3, 4, 8],
))]
pub fn with_staging_scope_thread<T: Number, C: Compute<T, THREADS>, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], STAGES, CpAsync, ThreadScope>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).published().map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}

/// Three times each element, at any scope: every thread reads its own element alone, so that thread
/// scope has no barrier.
#[kernel(
    instances(
        T = [i32, f32, I32x4],
        E = [CpAsync],
        S = [ThreadScope, WarpScope, BlockScope],
        THREADS = [128, 256],
        STAGES = [1, 2, 3, 4],
    ),
    instances(
        T = [i32, I32x4],
        E = [LoadStore],
        S = [ThreadScope, WarpScope, BlockScope],
        THREADS = [256],
        STAGES = [1, 2],
    ),
    instances(T = [i32], E = [Bulk], S = [BlockScope], THREADS = [256], STAGES = [2, 4]),
)]
pub fn scale_own<T: Number, E: Engine, S: Scope, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], STAGES, E, S>>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, tile.own(&t)[0].triple()));
    });
}
