//! The accepted neighbour of `fail/pipeline_wait_nothing_committed.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_for_a_copy(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let (_pipe, _tile) = pipe.wait();
}

fn main() {}
