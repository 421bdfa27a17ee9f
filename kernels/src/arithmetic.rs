//! A tunable amount of arithmetic on each element: where a pipeline hides the copy behind it, and where there is nothing to hide.

use core::array::from_fn;

use tilepipe::{Block, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};

use crate::compute::FusedMultiplyAdd;

/// Threads of a block.
const THREADS: usize = 256;
/// Elements in a tile: eight for each thread.
const TILE: usize = 2048;

/// The results of the thread with rank `rank`: of its elements `rank`, `rank + THREADS`, .., each `ROUNDS` times `x = 0.75 * x + next`,
/// rounded once a step, where `next` is the element's right neighbour in the tile (the last one's is the first).
///
/// All of them go through a round together, so that a step need not wait for the one before.
#[inline(always)]
fn chains<T: FusedMultiplyAdd, const ROUNDS: usize>(tile: &[T; TILE], rank: usize) -> [T; TILE / THREADS] {
    let element = |nth: usize| rank + nth * THREADS;
    let mut values: [T; TILE / THREADS] = from_fn(|nth| tile[element(nth)]);
    let next: [T; TILE / THREADS] = from_fn(|nth| tile[(element(nth) + 1) % TILE]);
    // A counter of 32 bits: that of a range takes half as many instructions as the arithmetic.
    let mut round = 0;
    while round < ROUNDS as u32 {
        for (value, next) in values.iter_mut().zip(&next) {
            *value = value.three_quarters_plus(*next);
        }
        round += 1;
    }
    values
}

/// `ROUNDS` fused multiply-adds for each element of a tile, while the next `STAGES - 1` tiles are copied.
#[kernel(instances(T = [f32], ROUNDS = [0, 8, 16, 32, 64, 128, 256], STAGES = [4]))]
pub fn multiply_adds<T: FusedMultiplyAdd, const ROUNDS: usize, const STAGES: usize>(
    block: Block<256>,
    input: Tiles<T, 2048>,
    mut out: TilesMut<T, 2048>,
    shared: Shared<Stages<[T; 2048], STAGES>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            for (nth, value) in chains::<T, ROUNDS>(tile, t.rank()).into_iter().enumerate() {
                dst.set_nth(&t, nth, value);
            }
        });
    });
}

/// The same arithmetic behind a copy through registers: a tile is loaded, and then worked on.
#[kernel(instances(T = [f32], ROUNDS = [0, 8, 16, 32, 64, 128, 256]))]
pub fn multiply_adds_synchronous<T: FusedMultiplyAdd, const ROUNDS: usize>(
    block: Block<256>,
    input: Tiles<T, 2048>,
    mut out: TilesMut<T, 2048>,
    shared: Shared<Stages<[T; 2048], 1, LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            for (nth, value) in chains::<T, ROUNDS>(tile, t.rank()).into_iter().enumerate() {
                dst.set_nth(&t, nth, value);
            }
        });
    });
}
