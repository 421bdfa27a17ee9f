//! A tunable amount of arithmetic on each element: where a pipeline hides the copy behind it, and
//! where there is nothing to hide.

use core::array::from_fn;

use tilepipe::{Block, Bulk, CpAsync, Engine, F32x4, LoadStore, Shared, Stages, TileMut, Tiles, TilesMut, kernel};

use crate::compute::FusedMultiplyAdd;

/// Elements in a tile of the kernels that do multiply-adds: eight for each thread.
pub const MULTIPLY_ADDS_TILE: usize = PER_THREAD * THREADS;
/// Threads of a block.
const THREADS: usize = 256;
/// Elements of a tile that a thread works on.
const PER_THREAD: usize = 8;
/// Vectors that a thread of the wide form works on at a time: as many numbers as [`PER_THREAD`].
const VECTORS: usize = 2;

/// `ROUNDS` fused multiply-adds for each element of a tile, while the next `STAGES - 1` tiles are
/// copied.
#[kernel(instances(T = [f32], ROUNDS = [0, 8, 16, 32, 48, 64, 128, 256], STAGES = [4]))]
pub fn multiply_adds<T: FusedMultiplyAdd, const ROUNDS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, MULTIPLY_ADDS_TILE>,
    mut out: TilesMut<T, MULTIPLY_ADDS_TILE>,
    shared: Shared<Stages<[T; MULTIPLY_ADDS_TILE], STAGES>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ =
        shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| compute::<T, ROUNDS>(&block, tile, &dst));
}

/// The same arithmetic on vectors of four numbers, 16 bytes in each access, in tiles of 4 to 16
/// KiB: a block of few threads, with `cp.async` and with bulk copies. An element's neighbour is the
/// next vector of the tile.
#[kernel(
    instances(
        T = [F32x4],
        E = [CpAsync, Bulk],
        THREADS = [128],
        LEN = [256, 1024],
        ROUNDS = [0, 8, 16, 32, 48, 64, 128, 256],
        STAGES = [4],
    ),
    instances(T = [F32x4], E = [CpAsync, Bulk], THREADS = [128], LEN = [256, 1024], ROUNDS = [0], STAGES = [2, 3, 6]),
    instances(T = [F32x4], E = [CpAsync, Bulk], THREADS = [128], LEN = [512, 768], ROUNDS = [0], STAGES = [4]),
)]
pub fn multiply_adds_wide<
    T: FusedMultiplyAdd,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const ROUNDS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    const { assert!(LEN.is_multiple_of(VECTORS * THREADS), "a thread works on whole groups of vectors") };
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            for group in 0..LEN / (VECTORS * THREADS) {
                let first = group * VECTORS;
                // One by one: an iterator over the array would keep it in memory.
                let [value, next] = chains::<T, THREADS, LEN, VECTORS, ROUNDS>(tile, t.rank(), first);
                dst.set_nth(&t, first, value);
                dst.set_nth(&t, first + 1, next);
            }
        });
    });
}

/// The same arithmetic behind a copy through registers: a tile is loaded, and then worked on.
#[kernel(instances(T = [f32], ROUNDS = [0, 8, 16, 32, 48, 64, 128, 256]))]
pub fn multiply_adds_synchronous<T: FusedMultiplyAdd, const ROUNDS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, MULTIPLY_ADDS_TILE>,
    mut out: TilesMut<T, MULTIPLY_ADDS_TILE>,
    shared: Shared<Stages<[T; MULTIPLY_ADDS_TILE], 1, LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ =
        shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| compute::<T, ROUNDS>(&block, tile, &dst));
}

/// Writes the results of a tile, of which each thread has `PER_THREAD`.
///
/// # Threads
///
/// The block.
#[inline(always)]
fn compute<'b, T: FusedMultiplyAdd, const ROUNDS: usize>(
    block: &Block<'b, THREADS>,
    tile: &[T; MULTIPLY_ADDS_TILE],
    dst: &TileMut<'_, 'b, [T; MULTIPLY_ADDS_TILE], THREADS>,
) {
    block.threads(|t| {
        for (nth, value) in
            chains::<T, THREADS, MULTIPLY_ADDS_TILE, PER_THREAD, ROUNDS>(tile, t.rank(), 0).into_iter().enumerate()
        {
            dst.set_nth(&t, nth, value);
        }
    });
}

/// `COUNT` results of the thread with rank `rank`, from the `first`-th on: of its elements `rank`,
/// `rank + THREADS`, .., each `ROUNDS` times `x = 0.75 * x + next`, rounded once a step, where
/// `next` is the element's right neighbour in the tile (the last one's is the first).
///
/// All of them go through a round together, so that a step need not wait for the one before.
#[inline(always)]
fn chains<T: FusedMultiplyAdd, const THREADS: usize, const LEN: usize, const COUNT: usize, const ROUNDS: usize>(
    tile: &[T; LEN],
    rank: usize,
    first: usize,
) -> [T; COUNT] {
    let element = |nth: usize| rank + (first + nth) * THREADS;
    let mut values: [T; COUNT] = from_fn(|nth| tile[element(nth)]);
    let next: [T; COUNT] = from_fn(|nth| tile[(element(nth) + 1) % LEN]);
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
