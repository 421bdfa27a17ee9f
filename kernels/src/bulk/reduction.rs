//! Results for each block, and the scan that begins with them.

use tilepipe::{Block, Blocked, Bulk, Consecutive, Input, Shared, Stages, Tiles, TilesMut, kernel, key};

use crate::compute::Number;
use crate::reduction::{PIECE, write_largest, write_result};

/// [`argmax`](fn@crate::argmax) with bulk copies, in tiles of 4 KiB.
#[kernel(instances(THREADS = [256], LEN = [1024], STAGES = [4]))]
pub fn argmax_bulk<const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<f32, LEN>,
    out: TilesMut<u64, 1>,
    shared: Shared<Stages<[f32; LEN], STAGES, Bulk>>,
) {
    let elements = input.len();
    let (first, step) = (block.index() * LEN, block.grid() * LEN);
    let tiles = input.for_block(&block);
    // A thread's largest element so far, and its key. Nothing is known to be at most a NaN.
    let mut largest = block.map(|_| (f32::NAN, 0));
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, i| {
        block.update(&mut largest, |t, (value, key)| {
            let own = tile.own(&t);
            // All comparisons, and one branch.
            if own.iter().fold(true, |all, element| all & (*element <= *value)) {
                return;
            }
            let start = first + i * step;
            let (first, valid) = (start as u32, (elements - start).min(LEN) as u32);
            let places = (t.rank() * (LEN / THREADS)) as u32..;
            for (place, element) in places.zip(own) {
                // What lies beyond the end is zeros, which are no elements.
                if place < valid {
                    *key = (*key).max(key::argmax(*element, first.wrapping_add(place)));
                }
            }
            *value = key::argmax_value(*key);
        });
    });
    let keys = block.map(|t| largest.get(&t).1);
    write_largest(&block, &keys, out);
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
    let tiles = input.in_order::<Consecutive>(&block);
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
    mut out: TilesMut<T, LEN, Blocked, Consecutive>,
    shared: Shared<Stages<[T; LEN], STAGES, Bulk>>,
) {
    let index = block.index();
    let before = block.map(|t| {
        let mut sum = T::ZERO;
        for part in (t.rank()..index).step_by(THREADS) {
            sum = sum.plus(sums.at(part));
        }
        sum
    });
    let mut before = block.reduce(&before, T::plus);
    let (tiles, mut results) = (input.in_order::<Consecutive>(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        let own = block.map(|t| tile.own(&t).iter().fold(T::ZERO, |sum, value| sum.plus(*value)));
        let (prefixes, total) = block.exclusive_scan(&own, before, T::plus);
        before = total;
        block.threads(|t| {
            let own = tile.own(&t);
            let mut sum = prefixes.get(&t);
            let sums: [T; PIECE] = core::array::from_fn(|nth| {
                let before = sum;
                sum = sum.plus(own[nth]);
                before
            });
            result.set_all(&t, sums);
        });
    });
}
