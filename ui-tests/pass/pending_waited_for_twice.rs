//! The accepted neighbour of `fail/pending_waited_for_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_once(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let pending = shared.copy(&block, input.tile(0));
    let first = pending.wait();
    let _ = block.map(|t| first[t.rank()]);
}

fn main() {}
