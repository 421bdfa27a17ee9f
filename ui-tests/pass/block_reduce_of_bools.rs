//! The accepted neighbour of `fail/block_reduce_of_bools.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn ask_for_any(block: Block<128>) {
    let even = block.map(|t| t.rank() % 2 == 0);
    if block.any(&even) {
        block.sync();
    }
}

fn main() {}
