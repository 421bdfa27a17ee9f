//! On hardware 100 elements are no whole number for each of 64 threads: some would own half of one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn share_out(
    block: Block<64>,
    input: Tiles<i32, 100>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<[i32; 100], 1>>,
) {
    let mut results = out.for_block(&block);
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile.own(&t)[0]));
}

fn main() {}
