//! The accepted neighbour of `fail/thread_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_rank(block: Block<128>) {
    let _ = block.map(|t| t.rank());
}

fn main() {}
