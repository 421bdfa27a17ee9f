//! The accepted neighbour of `fail/lane_of_another_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::{PerLane, Warp};

fn read_its_own<'w, 'b>(this: &Warp<'w, 'b, 128>, values: &PerLane<'w, u32>) {
    let _ = this.map(|lane| values.get(&lane));
}

fn main() {}
