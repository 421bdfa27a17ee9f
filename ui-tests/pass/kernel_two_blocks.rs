//! The accepted neighbour of `fail/kernel_two_blocks.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn take_one_block(block: Block<128>) {
    let _ = block;
}

fn main() {}
