//! The accepted neighbour of `fail/kernel_unsafe_code.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn use_the_block(block: Block<128>) {
    block.sync();
}

fn main() {}
