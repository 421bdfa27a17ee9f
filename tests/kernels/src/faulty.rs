//! Kernels that fail on purpose: for tests of what a launch reports.

use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Blocked, Element, Input, Reduction, Shared, Stages, Tiles, TilesMut, kernel};

/// Asks for one tile more than its block has.
#[kernel]
pub fn reads_past_the_end(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = tiles.get(tiles.len());
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, 1));
}

/// Panics in the last thread of each block.
#[kernel]
pub fn panics(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    if input.len() > 0 && results.len() > 0 {
        let dst = results.get_mut(0);
        block.threads(|t| {
            assert!(t.rank() < 127, "the last thread gives up");
            dst.set(&t, 1);
        });
    }
}

/// Reads an input at a place that it does not have, in the last thread of each block.
#[kernel]
pub fn reads_beyond_an_input(block: Block<128>, input: Input<i32>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    // The last thread's place is the number of elements.
    let first = input.len() - 127;
    block.threads(|t| dst.set(&t, input.at(first + t.rank())));
}

/// Adds to a bin that there is not, in the last thread of each block.
#[kernel]
pub fn adds_beyond_the_bins(
    block: Block<128>,
    input: Tiles<u32, 128>,
    out: Reduction<u32, Add>,
    shared: Shared<Bins<u32, 127, Add>>,
) {
    let bins = shared.bins(&block);
    if input.len() > 0 {
        block.threads(|t| bins.add(&t, t.rank(), 1));
    }
    bins.publish(&block).add_to(&block, &out);
}

/// Reads an input on the CPU; on the GPU a function of the same name writes an output of other
/// elements. What a launch checks is the host's signature, so it compares the two first.
#[cfg(not(target_arch = "nvptx64"))]
#[kernel]
pub fn two_signatures(block: Block<32>, input: Tiles<u32, 32>) {
    let _ = (block, input);
}

/// Writes an output of 16-byte elements on the GPU: what the CPU's function of this name says of
/// its input is not true of it.
#[cfg(target_arch = "nvptx64")]
#[kernel]
pub fn two_signatures(block: Block<32>, mut out: TilesMut<u128, 32>) {
    let mut results = out.for_block(&block);
    for index in 0..results.len() {
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, 0));
    }
}

/// An element of 4 bytes on the CPU and of 16 on the GPU.
#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
pub struct TwoSizes {
    first: u32,
    #[cfg(target_arch = "nvptx64")]
    others: [u32; 3],
}

/// Writes such elements.
#[kernel]
pub fn two_sizes(block: Block<32>, mut out: TilesMut<TwoSizes, 32>) {
    let mut results = out.for_block(&block);
    for index in 0..results.len() {
        let dst = results.get_mut(index);
        block.threads(|t| {
            let value = TwoSizes {
                first: 1,
                #[cfg(target_arch = "nvptx64")]
                others: [2; 3],
            };
            dst.set(&t, value);
        });
    }
}

/// Looks each element up in its own tile, at a place that only the data bounds: `core` checks each
/// index.
#[kernel(instances(THREADS = [256], LEN = [THREADS, 4 * THREADS]))]
pub fn looks_up<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
    shared: Shared<Stages<[i32; LEN], 2>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| tile[tile[element] as usize]));
    });
}

/// [`looks_up`](fn@looks_up) with indices that cannot be out of range.
#[kernel(instances(THREADS = [256], LEN = [THREADS, 4 * THREADS]))]
pub fn looks_up_masked<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
    shared: Shared<Stages<[i32; LEN], 2>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| tile[tile[element] as usize % LEN]));
    });
}

/// Panics of `core` in the last thread of each block, by what the parameter says.
#[kernel]
pub fn panics_in_core(block: Block<128>, way: u32, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    // Nothing that the compiler knows: 127 in the last thread.
    let len = input.len();
    block.threads(|t| {
        let rank = t.rank();
        let numbers = [1, 2, 3, 4];
        let last = rank == 127;
        let beyond = if last { len + rank } else { 1 };
        let value = match way {
            0 => numbers[beyond % 1024],
            1 => numbers[beyond.min(512)..].len() as i32,
            2 => numbers[..beyond.min(512)].len() as i32,
            3 => numbers[3..if last { len.min(1) } else { 4 }].len() as i32,
            4 => 1 / (128 - beyond as i32).max(0),
            5 => numbers.get(beyond).copied().unwrap(),
            6 => numbers.get(beyond).copied().expect("a number at each place"),
            7 => {
                assert_ne!(beyond, 511, "the rank is {rank}");
                0
            }
            8 => (if last { Err(rank) } else { Ok(0) }).unwrap(),
            _ => {
                assert!(!last, "the rank is {rank}");
                0
            }
        };
        dst.set(&t, value);
    });
}
