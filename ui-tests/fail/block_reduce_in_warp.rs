//! On hardware the block's reduction waits for all warps, of which some never come.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_some_warps(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.map_warps(|warp| if warp.rank() == 0 { block.reduce(&ranks, |a, b| a + b) } else { 0 });
}

fn main() {}
