//! The accepted neighbour of `fail/block_reduce_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_all_threads(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let sum = block.reduce(&ranks, |a, b| a + b);
    let _ = block.map(|t| if t.rank() < 64 { sum } else { 0 });
}

fn main() {}
