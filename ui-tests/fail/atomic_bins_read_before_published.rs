//! On hardware slower threads are still adding to the bin: a thread may see any part of the count.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    block.threads(|t| bins.add(&t, 3, 1));
    let _ = bins[3];
}

fn main() {}
