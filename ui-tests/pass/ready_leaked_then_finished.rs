//! The accepted neighbour of `fail/ready_leaked_then_finished.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let _ = block.map(|t| tile[t.rank()]);
    let memory = pipe.release(tile).finish();
    let _ = memory;
}

fn main() {}
