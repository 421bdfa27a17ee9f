//! The accepted neighbour of `fail/kernel_called_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync(block: Block<128>) {
    block.sync();
}
#[kernel]
fn call_in_the_block(block: Block<128>) {
    sync(block);
}

fn main() {}
