//! The accepted neighbour of `fail/atomic_counts_kept_beyond_read.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let mut bins = shared.bins(&block);
    let kept = bins.read(&block, |counts| counts[2]);
    block.threads(|t| bins.add(&t, 3, kept));
}

fn main() {}
