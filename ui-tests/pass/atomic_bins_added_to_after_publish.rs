//! The accepted neighbour of `fail/atomic_bins_added_to_after_publish.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    block.threads(|t| bins.add(&t, 3, 1));
    let counts = bins.publish(&block);
    let _ = counts[2];
}

fn main() {}
