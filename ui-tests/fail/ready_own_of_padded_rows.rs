//! On hardware a thread's part of rows with padding would begin amid the padding, and end so.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, TilesMut, kernel};

#[kernel(instances(THREADS = [32, 64]))]
fn first_of_each<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles2D<i32, 16, 16, 4>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<Tile2D<i32, 16, 16, 4>, 2>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, i| {
        let result = results.get_mut(i);
        block.threads(|t| result.set(&t, tile.own(&t)[0]));
    });
}

fn main() {}
