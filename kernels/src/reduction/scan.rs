//! The exclusive scan: what each block's part adds up to, and in a second launch for each element
//! the sum of all before it.

use tilepipe::group::{InBlock, Synchronise};
use tilepipe::{
    Block, Blocked, Consecutive, CpAsync, Engine, Input, Scope, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel,
};

use crate::compute::Number;
use crate::reduction::write_result;

/// Elements that a thread has of a tile.
const PIECE: usize = 4;

/// The sum of each block's part of the input, which is as many tiles in a row as other blocks have,
/// or one more: the first launch of [`exclusive_scan`](fn@exclusive_scan), with as many blocks and
/// tiles as long.
#[kernel(instances(T = [i32, f32], THREADS = [256, 512], LEN = [4 * THREADS], STAGES = [4]))]
pub fn part_sums<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    sum_parts(block, input, out, shared);
}

/// For each element of the input the sum of all before it, without its own: `out[0]` is zero.
///
/// `sums` are those of the blocks' parts, which [`part_sums`](fn@part_sums) writes in a launch with
/// as many blocks as this one and tiles of the same length: only then are its parts the same. A
/// block adds those of the blocks before it, and takes its own part tile by tile, with two barriers
/// each.
///
/// # Panics
///
/// If there are fewer sums than blocks before one.
#[kernel(
    instances(T = [i32, f32], THREADS = [256, 512], LEN = [4 * THREADS], STAGES = [4]),
    min_blocks = 1280 / THREADS
)]
pub fn exclusive_scan<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    sums: Input<T>,
    out: TilesMut<T, LEN, Blocked, Consecutive>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    scan(block, input, sums, out, shared);
}

/// [`part_sums`](fn@part_sums) with any engine, at a scope in which a thread's own elements are
/// there.
#[inline(always)]
pub(crate) fn sum_parts<T: Number, E: Engine, S: Scope, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<'_, THREADS>,
    input: Tiles<'_, T, LEN>,
    out: TilesMut<'_, T, 1>,
    shared: Shared<'_, Stages<[T; LEN], STAGES, E, S>>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
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

/// [`exclusive_scan`](fn@exclusive_scan) with any engine, at a scope in which a thread's own
/// elements are there.
#[inline(always)]
pub(crate) fn scan<T: Number, E: Engine, S: Scope, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<'_, THREADS>,
    input: Tiles<'_, T, LEN>,
    sums: Input<'_, T>,
    mut out: TilesMut<'_, T, LEN, Blocked, Consecutive>,
    shared: Shared<'_, Stages<[T; LEN], STAGES, E, S>>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
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
        let own = block.map(|t| {
            let own = tile.own(&t);
            core::array::from_fn::<T, PIECE, _>(|nth| own[nth])
        });
        let sums = block.map(|t| own.get(&t).into_iter().fold(T::ZERO, T::plus));
        let (prefixes, total) = block.exclusive_scan(&sums, before, T::plus);
        before = total;
        block.threads(|t| {
            let mut sum = prefixes.get(&t);
            let sums = own.get(&t).map(|value| {
                let before = sum;
                sum = sum.plus(value);
                before
            });
            result.set_all(&t, sums);
        });
    });
}
