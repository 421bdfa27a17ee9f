//! The accepted neighbour of `fail/view_tile_indexed.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
pub fn firsts(
    block: Block<128>,
    input: Tiles<u32, 128>,
    mut out: TilesMut<u32, 128>,
    shared: Shared<Stages<[u32; 128], 1>>,
) {
    let tile = input.for_block(&block).get(0);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let tile = shared.copy(&block, tile).wait();
    block.threads(|t| dst.set(&t, tile[t.rank()]));
}

fn main() {}
