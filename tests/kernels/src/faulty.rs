//! Kernels that fail on purpose: for tests of what a launch reports.

use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Element, Input, Reduction, Shared, Tiles, TilesMut, kernel};

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
