//! On hardware each of a warp's 32 lanes would add, on the CPU one would.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    block.warps(|warp| bins.add(&warp, 0, 1));
    let _ = bins.publish(&block);
}

fn main() {}
