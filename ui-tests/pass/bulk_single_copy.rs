//! The accepted neighbour of `fail/bulk_single_copy.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, kernel};

#[kernel]
fn start_one(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1, CpAsync>>) {
    let _ = shared.copy(&block, input.tile(0)).wait();
}

fn main() {}
