//! The accepted neighbour of `fail/tensor_map_of_plain_tiles.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tiles2D<f32, 8, 32>,
    mut out: TilesMut2D<f32, 8, 32>,
    shared: Shared<Stages<Tile2D<f32, 8, 32>, 2, Bulk>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
