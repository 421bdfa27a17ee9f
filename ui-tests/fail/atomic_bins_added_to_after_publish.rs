//! On hardware other threads are reading the bin already.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    let counts = bins.publish(&block);
    block.threads(|t| bins.add(&t, 3, counts[2]));
}

fn main() {}
