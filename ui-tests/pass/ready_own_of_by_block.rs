//! The accepted neighbour of `fail/ready_own_of_by_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn second(
    block: Block<64>,
    small: Tiles<i32, 2>,
    large: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 2], [i32; 64]), 2>>,
) {
    let batches = (&small.for_block(&block), &large.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
        block.threads(|t| dst.set(&t, tiles.own_of::<1>(&t)[0] * tiles.tiles().0[1]));
    });
}

fn main() {}
