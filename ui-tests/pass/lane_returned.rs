//! The accepted neighbour of `fail/lane_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_rank(block: Block<128>) {
    block.warps(|warp| {
        let _ = warp.map(|lane| lane.rank());
    });
}

fn main() {}
