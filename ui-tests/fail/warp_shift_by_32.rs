//! On hardware a shift by 32 lanes is one by 31 or by none, depending on its direction: no lane
//! gets what was meant.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn shift_by_a_warp(block: Block<128>) {
    block.warps(|warp| {
        let ranks = warp.map(|lane| lane.rank() as u32);
        let _ = warp.shift_down::<32, _>(&ranks);
    });
}

fn main() {}
