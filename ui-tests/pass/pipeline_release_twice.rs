//! The accepted neighbour of `fail/pipeline_release_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_each_tile_once(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let pipe = pipe.release(tile);
    let (pipe, tile) = pipe.acquire().copy(input.tile(1)).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
