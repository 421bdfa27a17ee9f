//! The kernels whose compilation `cargo xtask bench --compile` times beside that of CUDA C++ which
//! does the same work: each in the form in which a program would have it, with one instance.

#![no_std]
#![forbid(unsafe_code)]

use tilepipe::{Block, Blocked, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

/// Elements of a group: the next element of the last one is the group's first.
const GROUP: usize = 256;

/// The element after another one in its group, in a tile of whole groups.
#[inline(always)]
fn next_in_group<const LEN: usize>(element: usize) -> usize {
    const { assert!(LEN.is_multiple_of(GROUP), "a tile is whole groups") };
    let next = if element % GROUP == GROUP - 1 { element - (GROUP - 1) } else { element + 1 };
    next % LEN
}

/// The guide's `with_staging_unified` with two stages: three times each element and the next one of
/// its tile.
#[kernel(instances(THREADS = [256]))]
pub fn neighbour_sum<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| {
            let next = tile[(t.rank() + 1) % THREADS];
            result.set(&t, tile[t.rank()].wrapping_mul(3).wrapping_add(next));
        });
    });
}

/// The same with four elements a thread.
#[kernel(instances(THREADS = [128], LEN = [4 * THREADS]))]
pub fn neighbour_sum_wide<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
    shared: Shared<Stages<[i32; LEN], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| {
            result.set_each(&t, |i| tile[i].wrapping_mul(3).wrapping_add(tile[next_in_group::<LEN>(i)]));
        });
    });
}

/// Three times each element, four elements a thread: each thread reads what it has copied itself.
#[kernel(instances(THREADS = [128], LEN = [4 * THREADS]))]
pub fn triple_wide<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
    shared: Shared<Stages<[i32; LEN], 2, CpAsync, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| {
            let own = tile.own(&t);
            result.set_each(&t, |i| own[i % (LEN / THREADS)].wrapping_mul(3));
        });
    });
}

/// libcu++'s `example_kernel`: three times each element of one input and the next one of another.
#[kernel(instances(THREADS = [256]))]
pub fn two_inputs<const THREADS: usize>(
    block: Block<THREADS>,
    left: Tiles<i32, THREADS>,
    right: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<([i32; THREADS], [i32; THREADS]), 2>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, result| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            let next = right[(t.rank() + 1) % THREADS];
            result.set(&t, left[t.rank()].wrapping_mul(3).wrapping_add(next));
        });
    });
}

/// The same with four elements a thread.
#[kernel(instances(THREADS = [128], LEN = [4 * THREADS]))]
pub fn two_inputs_wide<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    left: Tiles<i32, LEN>,
    right: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
    shared: Shared<Stages<([i32; LEN], [i32; LEN]), 2>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, result| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            result.set_each(&t, |i| left[i].wrapping_mul(3).wrapping_add(right[next_in_group::<LEN>(i)]));
        });
    });
}
