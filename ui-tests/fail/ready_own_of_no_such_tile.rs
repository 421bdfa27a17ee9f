//! On hardware a third tile of a stage that holds two would be elements of the next stage, which
//! have not landed.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn third(
    block: Block<64>,
    small: Tiles<i32, 2>,
    large: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 2], [i32; 64]), 2>>,
) {
    let batches = (&small.for_block(&block), &large.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
        block.threads(|t| dst.set(&t, tiles.own_of::<2>(&t)[0]));
    });
}

fn main() {}
