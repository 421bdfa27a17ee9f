//! A tile of a view says where it lies in global memory; nothing was copied yet.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, kernel};

#[kernel]
pub fn firsts(block: Block<128>, input: Tiles<u32, 128>, mut out: TilesMut<u32, 128>) {
    let tile = input.for_block(&block).get(0);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, tile[t.rank()]));
}

fn main() {}
