//! The accepted neighbour of `fail/warp_sync_in_lane.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some_warps(block: Block<128>) {
    block.warps(|warp| {
        if warp.rank() < 2 {
            warp.sync();
        }
    });
}

fn main() {}
