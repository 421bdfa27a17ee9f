//! The copy through registers that every asynchronous kernel is measured against.

use tilepipe::{Block, F32x4, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::{Compute, NeighbourSum, Number};

/// Loads a tile, synchronises, computes, synchronises: nothing overlaps (the guide's
/// `without_memcpy_async`).
#[kernel(instances(
    T = [i32, u32, f32, f64, I32x4, F32x4],
    C = [NeighbourSum],
    THREADS = [128, 256, 512, 1024],
))]
pub fn without_memcpy_async<T: Number, C: Compute<T, THREADS>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 1, LoadStore>>,
) {
    let batches = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&batches, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}
