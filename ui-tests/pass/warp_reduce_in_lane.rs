//! The accepted neighbour of `fail/warp_reduce_in_lane.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_the_warp(block: Block<128>) {
    block.warps(|warp| {
        let ranks = warp.map(|lane| lane.rank() as u32);
        let sum = warp.reduce(&ranks, |a, b| a + b);
        let _ = warp.map(|lane| if lane.rank() < 16 { sum } else { 0 });
    });
}

fn main() {}
