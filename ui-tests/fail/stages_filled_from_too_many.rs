//! On hardware there is no room for a third tile: it would overwrite the next stage.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_with_three(
    block: Block<128>,
    left: Tiles<i32, 128>,
    right: Tiles<f32, 64>,
    shared: Shared<Stages<([i32; 128], [f32; 64]), 2>>,
) {
    let _ = shared.pipeline(&block).acquire().copy((left.tile(0), right.tile(0), right.tile(1))).commit();
}

fn main() {}
