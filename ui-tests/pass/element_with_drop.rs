//! The accepted neighbour of `fail/element_with_drop.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_numbers(block: Block<128>, input: Tiles<u64, 128>) {
    let _ = (block, input);
}

fn main() {}
