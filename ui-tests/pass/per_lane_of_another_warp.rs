//! The accepted neighbour of `fail/per_lane_of_another_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::Warp;

fn sum_of_its_own<'w, 'b>(this: &Warp<'w, 'b, 128>) -> u32 {
    let ranks = this.map(|lane| lane.rank() as u32);
    this.reduce(&ranks, |a, b| a + b)
}

fn main() {}
