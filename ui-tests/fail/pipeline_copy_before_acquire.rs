//! On hardware the copy lands in a stage that other threads may still be reading.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_at_once(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = pipe.copy(input.tile(0));
}

fn main() {}
