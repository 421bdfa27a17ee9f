//! The accepted neighbour of `fail/ready_forgotten_then_next_awaited.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let (pipe, tile) = pipe.wait();
    let (_pipe, _tile) = pipe.release(tile).wait();
}

fn main() {}
