//! Small kernels for what pipelines of the copy engine can do, each also with `CpAsync`: they write
//! the same.

use tilepipe::{
    Block, Bulk, CpAsync, Engine, HaloTile, Halos, LoadStore, Optional, Replicated, Shared, Stages, Tiles, TilesMut,
    WarpScope, Zeros, kernel,
};
use tilepipe_kernel_elements::Number;

type TwoPipelines<T, E, const LEN: usize> = (Stages<[T; LEN], 2, E>, Stages<Optional<[T; LEN]>, 2, E>);

/// As [`zeros_and_gaps`](fn@crate::features::zeros_and_gaps), inside functions that wait for both
/// pipelines.
#[kernel(instances(T = [u8, i32], E = [CpAsync, LoadStore, Bulk], THREADS = [128]))]
pub fn zeros_and_gaps_in_scope<T: Number, E: Engine, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<TwoPipelines<T, E, THREADS>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let (zeros, gaps) = shared.split();
    let _ = zeros.with_pipeline(&block, |zeros| {
        let _ = gaps.with_pipeline(&block, |gaps| {
            let (mut zeros, mut gaps) = (zeros.weaken(), gaps.weaken());
            for i in 0..tiles.len() {
                let acquired = zeros.acquire();
                let filled = if i % 2 == 1 { acquired.copy(Zeros) } else { acquired.copy(tiles.get(i)) };
                let (z, zero) = filled.commit().wait();
                let (g, gap) = gaps.acquire().copy((i % 3 != 2).then(|| tiles.get(i))).commit().wait();
                let dst = results.get_mut(i);
                match gap.get() {
                    Some(tile) => {
                        block.threads(|t| dst.set(&t, zero[t.rank()].triple().plus(tile[THREADS - 1 - t.rank()])));
                    }
                    None => block.threads(|t| dst.set(&t, zero[THREADS - 1 - t.rank()])),
                }
                (zeros, gaps) = (z.release(zero), g.release(gap));
            }
        });
    });
}

/// Three times each element, with three stages by hand: two tiles in flight while one is read. The
/// pipeline fills first in even rounds, and waits first in odd ones.
#[kernel(instances(T = [u8, i32], E = [CpAsync, Bulk], THREADS = [96], LEN = [16 * THREADS]))]
pub fn both_orders<T: Number, E: Engine, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Stages<[T; LEN], 3, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    if tiles.len() == 0 {
        return;
    }
    let tile_at = |i: usize| tiles.get(i.min(tiles.len() - 1));
    let _ = shared.with_pipeline(&block, |pipe| {
        let pipe = pipe.acquire().copy(tile_at(0)).commit().acquire().copy(tile_at(1)).commit();
        let mut pipe = pipe.weaken();
        for i in 0..tiles.len() {
            let dst = results.get_mut(i);
            if i % 2 == 0 {
                let (p, tile) = pipe.acquire().copy(tile_at(i + 2)).commit().wait();
                block.threads(|t| dst.set_each(&t, |e| tile[e].triple()));
                pipe = p.release(tile);
            } else {
                let (p, tile) = pipe.wait();
                let p = p.acquire().copy(tile_at(i + 2)).commit();
                block.threads(|t| dst.set_each(&t, |e| tile[e].triple()));
                pipe = p.release(tile);
            }
        }
    });
}

/// Leaves a pipeline in each of its states, also forgotten, and then uses its memory for another
/// one, that of a driver: three times each element.
#[expect(clippy::forget_non_drop, reason = "a forgotten pipeline is what is tested")]
#[kernel(instances(E = [CpAsync, Bulk], LEAVES = [0, 1, 2, 3, 4, 5, 6, 7, 8]))]
pub fn left_in_scope<E: Engine, const LEAVES: usize>(
    block: Block<64>,
    input: Tiles<u32, 256>,
    mut out: TilesMut<u32, 256>,
    shared: Shared<Stages<[u32; 256], 2, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    if tiles.len() == 0 {
        return;
    }
    let tile = tiles.get(0);
    let ((), shared) = shared.with_pipeline(&block, |pipe| match LEAVES {
        0 => drop(pipe),
        1 => core::mem::forget(pipe.acquire()),
        2 => core::mem::forget(pipe.acquire().copy(tile)),
        3 => core::mem::forget(pipe.acquire().copy(tile).commit()),
        4 => core::mem::forget(pipe.acquire().copy(tile).commit().acquire().copy(tile)),
        5 => drop(pipe.acquire().copy(tile).commit().acquire().copy(tile).commit().wait()),
        6 => {
            let (pipe, tile) = pipe.acquire().copy(tile).commit().wait();
            core::mem::forget(pipe.release(tile).acquire().copy(tiles.get(0)).commit());
        }
        7 => {
            let (pipe, first) = pipe.acquire().copy(tile).commit().acquire().copy(tile).commit().wait();
            let (pipe, second) = pipe.release(first).acquire().copy(tile).commit().wait();
            core::mem::forget((pipe, second));
        }
        _ => drop(pipe.for_each(3, |stage, _| stage.copy(tile), |_, _| {})),
    });
    let drained = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |e| tile[e].wrapping_mul(3)));
    });
    // Once more over the same memory.
    let _ = drained.finish().pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |e| tile[e].wrapping_mul(3)));
    });
}

/// Each warp reads the block's tiles by hand through a pipeline of its own, and sums what its lanes
/// read; the memory is used again for each tile.
#[kernel(instances(E = [CpAsync, Bulk]))]
pub fn warps_by_hand<E: Engine>(
    block: Block<96>,
    input: Tiles<u32, 96>,
    mut out: TilesMut<u32, 96>,
    shared: Shared<Replicated<Stages<[u32; 96], 2, E, WarpScope>, 96>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut shared = shared;
    for i in 0..tiles.len() {
        let (sums, retired) = shared.warps(&block, |warp, pipe| {
            let mut sums = warp.map(|_| 0_u32);
            let mut pipe = pipe.weaken().weaken();
            for _ in 0..=warp.rank() {
                let (p, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
                warp.update(&mut sums, |lane, sum| *sum = sum.wrapping_add(tile[3 * lane.rank()]));
                pipe = p.release(tile).weaken();
            }
            // It ends with a copy in flight.
            let _ = pipe.acquire().copy(tiles.get(0)).commit();
            warp.reduce(&sums, u32::wrapping_add)
        });
        shared = retired.reclaim(&block);
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, sums.get(&t).wrapping_add(t.rank() as u32)));
    }
}

/// The sum of each element's neighbours four to the left and four to the right.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 3]))]
pub fn far_neighbours<E: Engine, const STAGES: usize>(
    block: Block<64>,
    input: Halos<u32, 64, 4>,
    mut out: TilesMut<u32, 64>,
    shared: Shared<Stages<HaloTile<u32, 64, 4>, STAGES, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        let elements = tile.as_slice();
        block.threads(|t| dst.set(&t, elements[t.rank()].wrapping_add(elements[t.rank() + 8])));
    });
}

/// Drives one pipeline over one of the block's tiles, none, one more than it has stages, all of
/// them, and once more all of them, without giving up its memory: each tile backwards, and at each
/// place a number of what was read there before, in its order.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2, 3]))]
pub fn driven_again<E: Engine, const STAGES: usize>(
    block: Block<64>,
    input: Tiles<u32, 64>,
    mut out: TilesMut<u32, 64>,
    shared: Shared<Stages<[u32; 64], STAGES, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    if tiles.len() == 0 {
        return;
    }
    let mut read = block.map(|_| 0_u32);
    let mut pipe = shared.pipeline(&block);
    for drive in 0..4 {
        let count = match drive {
            1 => 0,
            3 => tiles.len(),
            _ => 1 + drive / 2 * STAGES,
        };
        pipe = pipe
            .for_each(
                count,
                // Each drive begins with another tile.
                |stage, i| stage.copy(tiles.get((drive + i) % tiles.len())),
                |tile, _| {
                    block.update(&mut read, |t, read| *read = read.wrapping_mul(31).wrapping_add(tile[63 - t.rank()]));
                },
            )
            .idle();
    }
    let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, tile[63 - t.rank()].wrapping_add(read.get(&t))));
    });
}
