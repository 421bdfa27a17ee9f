//! On hardware two elements are no whole number for each of 64 threads: most would own none, and
//! read what others copied.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn first(
    block: Block<64>,
    small: Tiles<i32, 2>,
    large: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 2], [i32; 64]), 2>>,
) {
    let batches = (&small.for_block(&block), &large.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
        block.threads(|t| dst.set(&t, tiles.own_of::<0>(&t)[0]));
    });
}

fn main() {}
