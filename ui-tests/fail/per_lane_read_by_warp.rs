//! On hardware each lane compares its own value: the lanes disagree whether to sync, and hang.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_a_lane(block: Block<128>) {
    block.warps(|warp| {
        let rank = warp.map(|lane| lane.rank());
        if rank == 0 {
            warp.sync();
        }
    });
}

fn main() {}
