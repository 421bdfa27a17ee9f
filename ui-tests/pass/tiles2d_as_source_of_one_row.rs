//! The accepted neighbour of `fail/tiles2d_as_source_of_one_row.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, kernel};

#[kernel]
fn keep_rows(block: Block<128>, input: Tiles2D<f32, 8, 16>, shared: Shared<Stages<Tile2D<f32, 8, 16>, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
