//! Kernels whose tiles the copy engine brings: the streaming kernels of the other files with
//! [`Bulk`], in large tiles of which each thread has several elements in a row.
//!
//! [`with_staging_unified_wide`](fn@crate::with_staging_unified_wide),
//! [`scale_own`](fn@crate::scale_own) and the kernels in roles have instances with it, too.

use tilepipe::{Block, Blocked, Bulk, HaloTile, Halos, Shared, Stages, Tiles, TilesMut, kernel};

use crate::average::RADIUS;
use crate::compute::{Number, next_in_group};
use crate::reduction::{TwoTiles, write_result};

/// The sum of the block's tiles, as [`sum`](fn@crate::sum) in tiles of 4 to 16 KiB.
#[kernel(instances(T = [i32, f32], THREADS = [256], LEN = [1024, 4096], STAGES = [4]))]
pub fn sum_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    let tiles = input.for_block(&block);
    let mut sums = block.map(|_| T::ZERO);
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, _| {
        block.update(&mut sums, |t, sum| {
            for value in tile.own(&t) {
                *sum = sum.plus(*value);
            }
        });
    });
    write_result(&block, &sums, out);
}

/// The dot product of the block's tiles, as [`dot`](fn@crate::dot).
#[kernel(instances(T = [i32, f32], THREADS = [256], LEN = [1024], STAGES = [2, 4]))]
pub fn dot_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: Tiles<T, LEN>,
    right: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<TwoTiles<T, LEN>, STAGES, Bulk>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut sums = block.map(|_| T::ZERO);
    let _ = shared.pipeline(&block).for_each_tile((&lefts, &rights), |tiles, _| {
        block.update(&mut sums, |t, sum| {
            let (left, right) = tiles.own(&t);
            for (left, right) in left.iter().zip(right) {
                *sum = sum.plus(left.times(*right));
            }
        });
    });
    write_result(&block, &sums, out);
}

/// [`example_kernel_wide`](fn@crate::example_kernel_wide) with bulk copies.
#[kernel(instances(T = [i32], THREADS = [128], LEN = [4 * THREADS], STAGES = [1, 2]))]
pub fn example_kernel_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: Tiles<T, LEN>,
    right: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<TwoTiles<T, LEN>, STAGES, Bulk>>,
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

/// [`moving_average`](fn@crate::moving_average) with bulk copies, whose halos are multiples of 16
/// bytes.
#[kernel(instances(T = [i32, f32], THREADS = [256], STAGES = [2, 4]))]
pub fn moving_average_bulk<T: Number, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    signal: Halos<T, THREADS, RADIUS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<HaloTile<T, THREADS, RADIUS>, STAGES, Bulk>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            let mut sum = T::ZERO;
            for value in tile.window(t.rank()) {
                sum = sum.plus(*value);
            }
            dst.set(&t, sum.mean_of(2 * RADIUS as u16 + 1));
        });
    });
}
