//! Tiles of elements in a row have no columns to be numbered by.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn copy(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>, shared: Shared<Stages<[i32; 64], 2>>) {
    let (tiles, mut results) = (input.by_columns().for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, tile[t.rank()]));
    });
}

fn main() {}
