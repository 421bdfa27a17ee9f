//! The accepted neighbour of `fail/pipeline_copy_before_acquire.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn acquire_first(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = pipe.acquire().copy(input.tile(0)).commit();
}

fn main() {}
