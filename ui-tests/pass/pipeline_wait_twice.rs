//! The accepted neighbour of `fail/pipeline_wait_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_for_each_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let (pipe, first) = pipe.wait();
    let (_pipe, _second) = pipe.release(first).wait();
}

fn main() {}
