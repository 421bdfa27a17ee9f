//! Two inputs in one stage.

use tilepipe::{Block, F32x4, I32x4, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::Number;

/// `3 * left[r] + right[r + 1]` in each tile, the last thread's neighbour being the first: a stage
/// holds a tile of each input (the `example_kernel` of `cuda::pipeline`'s documentation).
#[kernel(instances(T = [i32, u32, f32, f64, I32x4, F32x4], THREADS = [128, 256, 512]))]
pub fn example_kernel<T: Number, const THREADS: usize>(
    block: Block<THREADS>,
    left: Tiles<T, THREADS>,
    right: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<([T; THREADS], [T; THREADS]), 2>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            let next = (t.rank() + 1) % THREADS;
            dst.set(&t, left[t.rank()].triple().plus(right[next]));
        });
    });
}
