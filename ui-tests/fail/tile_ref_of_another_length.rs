//! On hardware a copy of half a tile leaves the stage's other half with stale data.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_half(block: Block<128>, input: Tiles<i32, 64>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
