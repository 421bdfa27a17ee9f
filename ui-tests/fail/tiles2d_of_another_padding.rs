//! On hardware every row after the first would land beside the place at which it is read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, kernel};

#[kernel]
fn pad(block: Block<128>, input: Tiles2D<f32, 32, 32>, shared: Shared<Stages<Tile2D<f32, 32, 32, 1>, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
