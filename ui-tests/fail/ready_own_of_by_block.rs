//! On hardware a block has no rank at block level: which part is its own depends on the thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn by_block(
    block: Block<64>,
    small: Tiles<i32, 2>,
    large: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 2], [i32; 64]), 2>>,
) {
    let batches = (&small.for_block(&block), &large.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
        let own = tiles.own_of::<1>(&block)[0];
        block.threads(|t| dst.set(&t, own));
    });
}

fn main() {}
