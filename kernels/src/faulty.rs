//! Kernels that fail on purpose: for tests of what a launch reports.

use tilepipe::{Block, Tiles, TilesMut, kernel};

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
