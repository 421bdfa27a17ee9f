//! The accepted neighbour of `fail/atomic_least_of_floats.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Min;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn least(block: Block<64>, shared: Shared<Bins<u64, 8, Min>>) {
    let _ = (block, shared);
}

fn main() {}
