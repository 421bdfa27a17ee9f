//! Kernels whose tiles the copy engine brings: the streaming kernels of the other files with
//! [`Bulk`], in large tiles of which each thread has several elements in a row.
//!
//! [`with_staging_unified`](fn@crate::with_staging_unified) and its wide form,
//! [`scale_own`](fn@crate::scale_own), [`sum_by_warps`](fn@crate::sum_by_warps),
//! [`multiply_adds_wide`](fn@crate::multiply_adds_wide) and kernels in roles have instances with
//! it, too. The engine copies for a whole group: what is at thread scope there is at block scope
//! here, and single copies and queues of them have no form with it. Rows and halos are multiples of
//! 16 bytes: an `i32` matrix is padded by 4 elements here, and has a halo of 4.

mod counts;
mod reduction;

use tilepipe::role::{EvenOdd, Partitioned, WarpRoles};
use tilepipe::{
    Block, Blocked, Bulk, BulkTilesMut, Constant, HaloTile, HaloTile2D, Halos, Halos2D, Micro, Outputs, Runs, Shared,
    Stages, Tile2D, Tiles, Tiles2D, TilesMut, TilesMut2D, kernel,
};

use crate::compute::{Compute, GroupSum, MultiplyAdd, Number, next_in_group};
use crate::grid2d::five_points;
use crate::signal::{RADIUS, convolve, mean_around};

pub use counts::{histogram_bulk, histogram_u32_bulk};
pub use reduction::{argmax_bulk, exclusive_scan_bulk, part_sums_bulk};

/// The input as it is, through shared memory: what streaming takes by itself, beside the driver's
/// own copy.
#[kernel(instances(T = [i32], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [2, 4]))]
pub fn copy_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| tile[element]));
    });
}

/// Stages whose tiles are stored from where they have landed: there are no output stages.
type Stored<T, const LEN: usize, const STAGES: usize> = (Stages<[T; LEN], STAGES, Bulk>, Outputs<[T; LEN], 0>);

/// The input as it is, by the copy engine alone: it loads each tile, and stores it from where it
/// has landed. No thread touches an element.
#[kernel(instances(T = [i32], THREADS = [32], LEN = [1024, 4096], STAGES = [2, 4]))]
pub fn copy_stored_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: BulkTilesMut<T, LEN>,
    shared: Shared<Stored<T, LEN, STAGES>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| draft.store(tile));
}

/// [`scale_own_wide`](fn@crate::scale_own_wide) with bulk copies, at block scope.
#[kernel(instances(T = [i32], THREADS = [128], LEN = [4 * THREADS], STAGES = [1, 2]))]
pub fn scale_own_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| tile[element].triple()));
    });
}
use crate::reduction::{TwoTiles, write_result};

/// The sum of the block's tiles, as [`sum`](fn@crate::sum) in tiles of 4 to 16 KiB. A thread adds
/// four elements in a row, then the four of the same place in the next part of the tile: with more
/// in a row a warp's reads of shared memory would meet in its banks.
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
            for part in 0..LEN / (4 * THREADS) {
                let first = 4 * (part * THREADS + t.rank());
                for nth in 0..4 {
                    *sum = sum.plus(tile[first + nth]);
                }
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
        block.threads(|t| dst.set(&t, mean_around(tile, t.rank())));
    });
}

/// [`moving_average_wide`](fn@crate::moving_average_wide) with bulk copies.
#[kernel(
    instances(T = [i32], THREADS = [256], LEN = [4 * THREADS], STAGES = [1]),
    instances(T = [i32], THREADS = [128], LEN = [8 * THREADS], STAGES = [2]),
    min_blocks = if LEN == 4 * THREADS { 2048 / THREADS } else { 1536 / THREADS }
)]
pub fn moving_average_wide_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    signal: Halos<T, LEN, RADIUS>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<HaloTile<T, LEN, RADIUS>, STAGES, Bulk>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| mean_around(tile, element)));
    });
}

/// [`convolution`](fn@crate::convolution) with bulk copies.
#[kernel(instances(
    T = [i32, f32],
    THREADS = [256],
    LEN = [4 * THREADS],
    RADIUS = [8],
    TAPS = [2 * RADIUS + 1],
    STAGES = [2],
))]
pub fn convolution_bulk<
    T: MultiplyAdd,
    const THREADS: usize,
    const LEN: usize,
    const RADIUS: usize,
    const TAPS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    signal: Halos<T, LEN, RADIUS>,
    filter: Constant<[T; TAPS]>,
    out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<HaloTile<T, LEN, RADIUS>, STAGES, Bulk>>,
) {
    convolve(block, signal, filter, out, shared);
}

/// [`transpose_wide`](fn@crate::transpose_wide) with bulk copies, one for each row of a tile: with
/// a `PAD` of 4 `i32` rows start at multiples of 16 bytes.
#[kernel(instances(T = [i32], THREADS = [256], ROWS = [64], COLUMNS = [64], PAD = [4], STAGES = [1, 2]))]
pub fn transpose_bulk<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const PAD: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles2D<T, COLUMNS, ROWS, PAD>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Micro<4, 4>>,
    shared: Shared<Stages<Tile2D<T, COLUMNS, ROWS, PAD>, STAGES, Bulk>>,
) {
    let tiles = input.by_columns().for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
    });
}

/// [`stencil_2d_wide`](fn@crate::stencil_2d_wide) with bulk copies, one for each row of a tile with
/// its halo: a `HALO` of 4 `i32` is 16 bytes, one of 1 is not. A thread has four elements of each
/// of four rows.
#[kernel(
    instances(T = [i32], THREADS = [256], ROWS = [32], COLUMNS = [128], HALO = [4], STAGES = [1, 2]),
    min_blocks = 5
)]
pub fn stencil_2d_bulk<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const HALO: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Halos2D<T, ROWS, COLUMNS, HALO>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Runs<4>>,
    shared: Shared<Stages<HaloTile2D<T, ROWS, COLUMNS, HALO>, STAGES, Bulk>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| five_points(tile, row, column)));
    });
}

/// [`with_specialized_staging_unified_wide`](fn@crate::with_specialized_staging_unified_wide) with
/// bulk copies: of the even threads the first one asks for tiles.
#[kernel(instances(T = [i32], C = [GroupSum], THREADS = [256], TILE = [128], LEN = [4 * TILE], STAGES = [2, 4]))]
pub fn with_specialized_staging_unified_bulk<
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
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, Bulk>>>,
) {
    let batches = input.for_block(&block);
    let _ = block.partition::<EvenOdd<TILE>>().pipeline(shared).map_tiles(&batches, &mut out, |odd, tile, dst| {
        odd.threads(|t| dst.set_each(&t, |element| C::compute(tile, element)));
    });
}

/// [`with_specialized_staging_warps_wide`](fn@crate::with_specialized_staging_warps_wide) with bulk
/// copies, for which a warp is enough.
#[kernel(instances(
    T = [i32],
    C = [GroupSum],
    THREADS = [160],
    PRODUCERS = [32],
    CONSUMERS = [128],
    LEN = [4 * CONSUMERS],
    STAGES = [2, 4],
))]
pub fn with_specialized_staging_warps_bulk<
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
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, Bulk>>>,
) {
    let batches = input.for_block(&block);
    let roles = block.partition::<WarpRoles<PRODUCERS, CONSUMERS>>();
    let _ = roles.pipeline(shared).map_tiles(&batches, &mut out, |consumers, tile, dst| {
        consumers.threads(|t| dst.set_each(&t, |element| C::compute(tile, element)));
    });
}
