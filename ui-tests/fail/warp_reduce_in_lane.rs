//! On hardware `shfl.sync` reads from lanes that are not there: undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_some_lanes(block: Block<128>) {
    block.warps(|warp| {
        let ranks = warp.map(|lane| lane.rank() as u32);
        let _ = warp.map(|lane| if lane.rank() < 16 { warp.reduce(&ranks, |a, b| a + b) } else { 0 });
    });
}

fn main() {}
