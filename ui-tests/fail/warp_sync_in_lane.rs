//! On hardware `bar.warp.sync` waits for all 32 lanes, and here half of them never come.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some_lanes(block: Block<128>) {
    block.warps(|warp| {
        warp.lanes(|lane| {
            if lane.rank() < 16 {
                warp.sync();
            }
        });
    });
}

fn main() {}
