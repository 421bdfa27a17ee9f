//! The accepted neighbour of `fail/shared_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn share_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    block.threads(|t| {
        let _ = tile[t.rank()];
    });
}

fn main() {}
