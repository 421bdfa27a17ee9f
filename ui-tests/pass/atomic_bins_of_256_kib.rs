//! The accepted neighbour of `fail/atomic_bins_of_256_kib.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Reduction, Shared, kernel};

#[kernel]
pub fn count(block: Block<32>, sums: Reduction<u64, Add>, shared: Shared<Bins<u64, 16384, Add>>) {
    shared.bins(&block).publish(&block).add_to(&block, &sums);
}

fn main() {}
