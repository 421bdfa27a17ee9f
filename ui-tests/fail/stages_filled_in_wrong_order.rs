//! On hardware each tile would be read with the other one's type and length.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_in_wrong_order(
    block: Block<128>,
    left: Tiles<i32, 128>,
    right: Tiles<f32, 64>,
    shared: Shared<Stages<([i32; 128], [f32; 64]), 2>>,
) {
    let _ = shared.pipeline(&block).acquire().copy((right.tile(0), left.tile(0))).commit();
}

fn main() {}
