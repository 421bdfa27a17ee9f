//! The accepted neighbour of `fail/element_usize.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_elements(block: Block<128>, input: Tiles<u64, 128>) {
    let _ = (block, input);
}

fn main() {}
