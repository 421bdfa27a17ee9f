//! The accepted neighbour of `fail/warp_captures_cell.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn count_warps(block: Block<128>) {
    let first = block.map_warps(|warp| u32::from(warp.rank() == 0));
    if block.reduce(&first, |a, b| a + b) > 2 {
        block.sync();
    }
}

fn main() {}
