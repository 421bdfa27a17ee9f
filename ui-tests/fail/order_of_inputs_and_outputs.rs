//! Two orders would pair tiles of other numbers.
#![forbid(unsafe_code)]
use tilepipe::{Block, Consecutive, Shared, Stages, Striped, Tiles, TilesMut, kernel};

#[kernel]
fn copy(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128, Striped, Consecutive>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set(&t, tile[t.rank()]));
    });
}

fn main() {}
