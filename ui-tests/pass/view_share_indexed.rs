//! The accepted neighbour of `fail/view_share_indexed.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
pub fn firsts(
    block: Block<128>,
    input: Tiles<u32, 128>,
    mut out: TilesMut<u32, 128>,
    shared: Shared<Stages<[u32; 128], 1>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let tile = shared.copy(&block, tiles.get(0)).wait();
    block.threads(|t| dst.set(&t, tile[t.rank()]));
}

fn main() {}
