//! The accepted neighbour of `fail/per_lane_read_by_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_all_lanes(block: Block<128>) {
    block.warps(|warp| {
        let first = warp.map(|lane| lane.rank() == 0);
        if warp.any(&first) {
            warp.sync();
        }
    });
}

fn main() {}
