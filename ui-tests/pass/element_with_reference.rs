//! The accepted neighbour of `fail/element_with_reference.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_values(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = (block, input);
}

fn main() {}
