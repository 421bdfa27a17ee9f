//! The accepted neighbour of `fail/pipeline_copy_after_commit.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_into_a_stage_of_its_own(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let _ = pipe.acquire().copy(input.tile(1)).commit();
}

fn main() {}
