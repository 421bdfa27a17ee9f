//! The accepted neighbour of `fail/block_reduce_in_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_the_block(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let sum = block.reduce(&ranks, |a, b| a + b);
    let _ = block.map_warps(|warp| if warp.rank() == 0 { sum } else { 0 });
}

fn main() {}
