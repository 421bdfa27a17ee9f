//! The accepted neighbour of `fail/columns_of_elements_in_a_row.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};

#[kernel]
fn copy(
    block: Block<64>,
    input: Tiles2D<i32, 1, 64>,
    mut out: TilesMut2D<i32, 1, 64>,
    shared: Shared<Stages<Tile2D<i32, 1, 64>, 2>>,
) {
    let (tiles, mut results) = (input.by_columns().for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
