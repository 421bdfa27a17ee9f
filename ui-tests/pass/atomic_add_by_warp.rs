//! The accepted neighbour of `fail/atomic_add_by_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    block.warps(|warp| warp.lanes(|lane| bins.add(lane.thread(), 0, 1)));
    let _ = bins.publish(&block);
}

fn main() {}
