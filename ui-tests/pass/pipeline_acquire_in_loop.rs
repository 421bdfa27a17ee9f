//! The accepted neighbour of `fail/pipeline_acquire_in_loop.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_and_empty(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block).weaken();
    for index in 0..input.tiles() {
        let (p, tile) = pipe.acquire().copy(input.tile(index)).commit().wait();
        pipe = p.release(tile);
    }
}

fn main() {}
