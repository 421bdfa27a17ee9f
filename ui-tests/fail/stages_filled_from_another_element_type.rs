//! On hardware the bits of floats would be read as integers.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_with_floats(block: Block<128>, input: Tiles<f32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
