//! The accepted neighbour of `fail/warp_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_rank(block: Block<128>) {
    let _ = block.map_warps(|warp| warp.rank());
}

fn main() {}
