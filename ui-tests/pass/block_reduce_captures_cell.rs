//! The accepted neighbour of `fail/block_reduce_captures_cell.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn add_ranks(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    if block.reduce(&ranks, |a, b| a + b) > 5 {
        block.sync();
    }
}

fn main() {}
