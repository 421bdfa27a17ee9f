//! The accepted neighbour of `fail/pipeline_weaken_nothing_free.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn weaken_a_free_one(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().weaken();
}

fn main() {}
