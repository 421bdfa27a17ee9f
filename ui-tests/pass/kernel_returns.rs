//! The accepted neighbour of `fail/kernel_returns.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn return_nothing(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = input.for_block(&block).len();
}

fn main() {}
