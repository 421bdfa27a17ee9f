//! Any number of stages through the driver.

use tilepipe::{
    Block, Bulk, CpAsync, Engine, F32x4, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut, bf16, f16, kernel,
};

use crate::compute::{Complex, Compute, Float3, NeighbourSum, Number, Reverse};

/// Computes on one tile while the next `STAGES - 1` are copied (the guide's
/// `with_staging_unified`).
#[kernel(
    instances(
        T = [i32, u32, f32, f64, I32x4, F32x4],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [128, 256, 512, 1024],
        STAGES = [1, 2, 3, 4, 5, 6, 7, 8],
    ),
    instances(
        T = [u8, i8, u16, i16, i64, u64, i128, u128, f16, bf16, Complex, Float3],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [128, 256],
        STAGES = [2, 3],
    ),
    instances(
        T = [u8, i32, f64, F32x4, bf16, Complex, Float3],
        C = [NeighbourSum],
        E = [LoadStore],
        THREADS = [128, 256],
        STAGES = [1, 2, 4],
    ),
    instances(T = [i32], C = [Reverse], E = [CpAsync], THREADS = [256], STAGES = [3]),
    instances(T = [i32, I32x4], C = [NeighbourSum], E = [Bulk], THREADS = [256], STAGES = [2, 4]),
)]
pub fn with_staging_unified<T: Number, C: Compute<T, THREADS>, E: Engine, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], STAGES, E>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}
