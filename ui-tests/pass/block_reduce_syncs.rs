//! The accepted neighbour of `fail/block_reduce_syncs.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_after_adding(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.reduce(&ranks, |a, b| a + b);
    block.sync();
}

fn main() {}
