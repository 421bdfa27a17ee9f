//! Results for each block, and the scan that begins with them.

use tilepipe::{Block, Blocked, Bulk, Consecutive, Input, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::Number;
use crate::reduction::largest::find_largest;
use crate::reduction::scan::{scan, sum_parts};

/// [`argmax`](fn@crate::argmax) with bulk copies, in tiles of 4 KiB.
#[kernel(instances(THREADS = [256], LEN = [1024], STAGES = [4]))]
pub fn argmax_bulk<const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<f32, LEN>,
    out: TilesMut<u64, 1>,
    shared: Shared<Stages<[f32; LEN], STAGES, Bulk>>,
) {
    find_largest(block, input, out, shared);
}

/// [`part_sums`](fn@crate::part_sums) with bulk copies: the first launch of
/// [`exclusive_scan_bulk`](fn@exclusive_scan_bulk), with as many blocks and tiles as long.
#[kernel(instances(T = [i32], THREADS = [256], LEN = [4 * THREADS], STAGES = [4]))]
pub fn part_sums_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    sum_parts(block, input, out, shared);
}

/// [`exclusive_scan`](fn@crate::exclusive_scan) with bulk copies, which have a barrier more for
/// each tile than its two: all threads have read a stage before it is filled again.
///
/// # Panics
///
/// If there are fewer sums than blocks before one.
#[kernel(instances(T = [i32], THREADS = [256], LEN = [4 * THREADS], STAGES = [4]))]
pub fn exclusive_scan_bulk<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    sums: Input<T>,
    out: TilesMut<T, LEN, Blocked, Consecutive>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    scan(block, input, sums, out, shared);
}
