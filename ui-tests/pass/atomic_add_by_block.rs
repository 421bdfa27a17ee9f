//! The accepted neighbour of `fail/atomic_add_by_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Block, Reduction, kernel};

#[kernel]
fn count(block: Block<64>, out: Reduction<u32, Add>) {
    block.threads(|t| out.add(&t, 0, 1));
}

fn main() {}
