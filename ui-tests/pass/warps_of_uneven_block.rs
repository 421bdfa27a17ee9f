//! The accepted neighbour of `fail/warps_of_uneven_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn count_warps(block: Block<128>) {
    block.warps(|warp| warp.sync());
}

fn main() {}
