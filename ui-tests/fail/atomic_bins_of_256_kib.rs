//! No block has so much shared memory.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Reduction, Shared, kernel};

#[kernel]
pub fn count(block: Block<32>, sums: Reduction<u64, Add>, shared: Shared<Bins<u64, 32768, Add>>) {
    shared.bins(&block).publish(&block).add_to(&block, &sums);
}

fn main() {}
