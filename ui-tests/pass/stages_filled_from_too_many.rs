//! The accepted neighbour of `fail/stages_filled_from_too_many.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_with_two(
    block: Block<128>,
    left: Tiles<i32, 128>,
    right: Tiles<f32, 64>,
    shared: Shared<Stages<([i32; 128], [f32; 64]), 2>>,
) {
    let _ = shared.pipeline(&block).acquire().copy((left.tile(0), right.tile(0))).commit();
}

fn main() {}
