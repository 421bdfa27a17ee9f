//! The accepted neighbour of `fail/map_tiles_to_a_whole_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn negate(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>, shared: Shared<Stages<[i32; 64], 2>>) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set(&t, -tile[t.rank()]));
    });
}

fn main() {}
