//! Two stages by hand: the copy of the next tile overlaps the computation on this one.

use tilepipe::{Block, F32x4, I32x4, Shared, Stages, Tiles, TilesMut, hoist_bounds, kernel};

use crate::compute::{Compute, NeighbourSum, Number};

/// Computes on one tile while the next one is copied (the guide's `with_staging`, with each result
/// where it belongs).
///
/// Small elements take the guide's order: fill, then wait. It puts one more tile in flight, and has
/// two barriers in an iteration: one in `acquire`, one in `wait`. Of large elements a tile is
/// enough in flight: wait, then fill, and the barrier in `wait` also frees the stage that was
/// released before it.
#[kernel(instances(
    T = [i32, u32, f32, f64, I32x4, F32x4],
    C = [NeighbourSum],
    THREADS = [128, 256, 512, 1024],
))]
pub fn with_staging<T: Number, C: Compute<T, THREADS>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(batches, mut results)| {
        if batches.len() == 0 {
            return;
        }
        let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
        for batch in 1..batches.len() {
            let (p, tile) = if size_of::<T>() <= 8 {
                pipe.acquire().copy(batches.get(batch)).commit().wait()
            } else {
                let (p, tile) = pipe.wait();
                (p.acquire().copy(batches.get(batch)).commit(), tile)
            };
            let dst = results.get_mut(batch - 1);
            block.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
            pipe = p.release(tile);
        }
        let (p, tile) = pipe.wait();
        let dst = results.get_mut(batches.len() - 1);
        block.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
        let _ = p.release(tile);
    });
}
