//! Where the largest element is: one key a block, and the largest of those in a second launch.

use tilepipe::group::{InBlock, Synchronise};
use tilepipe::{Block, CpAsync, Engine, PerThread, Scope, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel, key};

use crate::reduction::write_reduced;

/// The key of the largest element of the block's tiles with its index in the whole input
/// ([`key::argmax`]); 0 if the block has no tile.
///
/// A NaN is above all; of equal elements it is the one with the lowest index.
/// [`largest_key`](fn@largest_key) over the keys of all blocks has that of the whole input. Each
/// thread copies and compares its own `LEN / THREADS` elements of a tile, without a barrier until
/// the last one.
///
/// A key has 32 bits of the index: of an input of more than 2^32 elements it says the index modulo
/// 2^32.
#[kernel(instances(THREADS = [256], LEN = [1024], STAGES = [4, 8]))]
pub fn argmax<const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<f32, LEN>,
    out: TilesMut<u64, 1>,
    shared: Shared<Stages<[f32; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    find_largest(block, input, out, shared);
}

/// The largest of the block's keys, 0 if it has none: in one block over the keys that the blocks of
/// [`argmax`](fn@argmax) have written, that of the whole input.
#[kernel(instances(THREADS = [256], LEN = [512], STAGES = [4]))]
pub fn largest_key<const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<u64, LEN>,
    out: TilesMut<u64, 1>,
    shared: Shared<Stages<[u64; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let mut largest = block.map(|_| 0);
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, _| {
        block.update(&mut largest, |t, largest| {
            for key in tile.own(&t) {
                *largest = (*key).max(*largest);
            }
        });
    });
    write_largest(&block, &largest, out);
}

/// [`argmax`](fn@argmax) with any engine, at a scope in which a thread's own elements are there.
#[inline(always)]
pub(crate) fn find_largest<E: Engine, S: Scope, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<'_, THREADS>,
    input: Tiles<'_, f32, LEN>,
    out: TilesMut<'_, u64, 1>,
    shared: Shared<'_, Stages<[f32; LEN], STAGES, E, S>>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
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
                let of_element = key::argmax(*element, first.wrapping_add(place));
                *key = (*key).max(if place < valid { of_element } else { 0 });
            }
            *value = key::argmax_value(*key);
        });
    });
    let keys = block.map(|t| largest.get(&t).1);
    write_largest(&block, &keys, out);
}

/// Has one thread write the largest of the threads' keys.
fn write_largest<'b, const THREADS: usize>(
    block: &Block<'b, THREADS>,
    keys: &PerThread<'b, u64, THREADS>,
    out: TilesMut<u64, 1>,
) {
    write_reduced(block, block.reduce(keys, u64::max), out);
}
