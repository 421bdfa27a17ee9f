//! Sums and dot products: streams that are read once and combined.
//!
//! Each block writes one result, `out[block]`. The order of the additions is fixed: every thread
//! adds its own elements in the order in which they come, then `Block::reduce` adds the threads'
//! sums.

use tilepipe::{
    Block, Bulk, CpAsync, Element, Engine, PerThread, Replicated, Shared, Stages, ThreadScope, Tiles, TilesMut,
    WarpScope, kernel,
};

use crate::compute::Number;

/// The sum of the block's tiles: each thread copies and adds its own `LEN / THREADS` elements of a
/// tile, without a barrier until the last one.
#[kernel(
    instances(T = [i32, u32, f32], THREADS = [256], LEN = [256, 1024], STAGES = [2, 4, 8]),
    instances(T = [i64, f64], THREADS = [256], LEN = [512], STAGES = [3]),
    instances(T = [i32], THREADS = [48], LEN = [192], STAGES = [2]),
)]
pub fn sum<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
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

/// A tile of each input.
pub(crate) type TwoTiles<T, const LEN: usize> = ([T; LEN], [T; LEN]);

/// The dot product of the block's tiles of two inputs, both in one stage.
#[kernel(
    instances(T = [i32, u32, f32], THREADS = [256], LEN = [256, 1024], STAGES = [2, 4]),
    instances(T = [f64], THREADS = [128], LEN = [256], STAGES = [3]),
)]
pub fn dot<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: Tiles<T, LEN>,
    right: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Stages<TwoTiles<T, LEN>, STAGES, CpAsync, ThreadScope>>,
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

/// The sum of the block's tiles, of which every warp streams its own through a pipeline of its own:
/// warp `w` of `W` takes the block's tiles `w`, `w + W`, ..
#[kernel(
    instances(T = [i32, f32], E = [CpAsync], THREADS = [128, 256], LEN = [128], STAGES = [2, 4]),
    instances(T = [i32], E = [Bulk], THREADS = [128], LEN = [512], STAGES = [2, 4]),
)]
pub fn sum_by_warps<T: Number, E: Engine, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Replicated<Stages<[T; LEN], STAGES, E, WarpScope>, THREADS>>,
) {
    let tiles = input.for_block(&block);
    let (sums, _) = shared.warps(&block, |warp, pipe| {
        let mut sums = warp.map(|_| T::ZERO);
        let (first, step) = (warp.rank(), warp.count());
        let own = if tiles.len() > first { (tiles.len() - first).div_ceil(step) } else { 0 };
        let _ = pipe.for_each(
            own,
            |stage, i| stage.copy(tiles.get(first + i * step)),
            |tile, _| {
                warp.update(&mut sums, |lane, sum| {
                    for value in tile.iter().skip(lane.rank()).step_by(32) {
                        *sum = sum.plus(*value);
                    }
                });
            },
        );
        warp.reduce(&sums, T::plus)
    });
    // All threads of a warp have its sum: the first of them keeps it.
    let sums = block.map(|t| if t.rank() % 32 == 0 { sums.get(&t) } else { T::ZERO });
    write_result(&block, &sums, out);
}

/// The sum of the block's elements, of which every thread streams its own pieces of `LEN` elements
/// through a pipeline of its own: of `THREADS` pieces in a row thread `r` takes number `r`.
#[kernel(instances(T = [i32, f32], THREADS = [128, 256], LEN = [1, 4], STAGES = [2, 4]))]
pub fn sum_by_threads<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: TilesMut<T, 1>,
    shared: Shared<Replicated<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>, THREADS>>,
) {
    let (first, step) = (block.index() * THREADS, block.grid() * THREADS);
    let (sums, _) = shared.threads(&block, |t, pipe| {
        let (own, mut sum) = (first + t.rank(), T::ZERO);
        let pieces = if input.tiles() > own { (input.tiles() - own).div_ceil(step) } else { 0 };
        let _ = pipe.for_each(
            pieces,
            |stage, i| stage.copy(input.tile(own + i * step)),
            |piece, _| {
                for value in piece.iter() {
                    sum = sum.plus(*value);
                }
            },
        );
        sum
    });
    write_result(&block, &sums, out);
}

/// Adds the threads' sums and has one thread write the block's result.
pub(crate) fn write_result<'b, T: Number, const THREADS: usize>(
    block: &Block<'b, THREADS>,
    sums: &PerThread<'b, T, THREADS>,
    out: TilesMut<T, 1>,
) {
    write_reduced(block, block.reduce(sums, T::plus), out);
}

/// Has one thread write the block's result.
#[inline(always)]
pub(crate) fn write_reduced<T: Element, const THREADS: usize>(
    block: &Block<'_, THREADS>,
    total: T,
    mut out: TilesMut<T, 1>,
) {
    let mut results = out.for_block(block);
    if results.len() > 0 {
        let dst = results.get_mut(0);
        block.threads(|t| {
            if t.rank() == 0 {
                dst.set_nth(&t, 0, total);
            }
        });
    }
}
