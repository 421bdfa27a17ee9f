//! The accepted neighbour of `fail/pending_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn read_in_a_closure(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let landed = shared.copy(&block, input.tile(0)).wait();
    let _ = block.map(move |t| if t.rank() < 64 { landed[0] } else { 0 });
}

fn main() {}
