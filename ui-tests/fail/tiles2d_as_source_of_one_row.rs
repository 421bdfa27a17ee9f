//! On hardware rows lie a pitch apart: copied as one row they bring the bytes between them along.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles2D, kernel};

#[kernel]
fn flatten(block: Block<128>, input: Tiles2D<f32, 8, 16>, shared: Shared<Stages<[f32; 128], 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
