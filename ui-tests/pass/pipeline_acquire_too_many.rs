//! The accepted neighbour of `fail/pipeline_acquire_too_many.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn two_of_two_stages(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let (pipe, tile) = pipe.wait();
    let _ = pipe.release(tile).acquire().copy(input.tile(2)).commit();
}

fn main() {}
