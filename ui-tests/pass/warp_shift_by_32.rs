//! The accepted neighbour of `fail/warp_shift_by_32.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn shift_within_a_warp(block: Block<128>) {
    block.warps(|warp| {
        let ranks = warp.map(|lane| lane.rank() as u32);
        let _ = warp.shift_down::<31, _>(&ranks);
    });
}

fn main() {}
