//! The tiles of a view are in global memory until they were copied.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, kernel};

#[kernel]
pub fn firsts(block: Block<128>, input: Tiles<u32, 128>, mut out: TilesMut<u32, 128>) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, tiles[0][t.rank()]));
}

fn main() {}
