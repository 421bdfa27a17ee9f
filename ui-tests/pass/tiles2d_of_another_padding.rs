//! The accepted neighbour of `fail/tiles2d_of_another_padding.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, kernel};

#[kernel]
fn pad(block: Block<128>, input: Tiles2D<f32, 32, 32, 1>, shared: Shared<Stages<Tile2D<f32, 32, 32, 1>, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
