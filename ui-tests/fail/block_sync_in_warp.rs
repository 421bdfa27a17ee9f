//! On hardware some warps wait for warps that never come: warp-level code may branch on the warp's
//! rank.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some_warps(block: Block<128>) {
    block.warps(|warp| {
        if warp.rank() == 0 {
            block.sync();
        }
    });
}

fn main() {}
