//! On hardware each of the block's threads would add, on the CPU one would.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Block, Reduction, kernel};

#[kernel]
fn count(block: Block<64>, out: Reduction<u32, Add>) {
    out.add(&block, 0, 1);
}

fn main() {}
