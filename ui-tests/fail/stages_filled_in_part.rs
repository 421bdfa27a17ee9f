//! On hardware the second tile of the stage is what was there before, and `wait` says that it has
//! landed.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_one_of_two(
    block: Block<128>,
    left: Tiles<i32, 128>,
    right: Tiles<f32, 64>,
    shared: Shared<Stages<([i32; 128], [f32; 64]), 2>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(left.tile(0)).commit();
}

fn main() {}
