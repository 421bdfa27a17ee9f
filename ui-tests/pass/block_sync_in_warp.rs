//! The accepted neighbour of `fail/block_sync_in_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_within_a_warp(block: Block<128>) {
    block.warps(|warp| {
        if warp.rank() == 0 {
            warp.sync();
        }
    });
}

fn main() {}
