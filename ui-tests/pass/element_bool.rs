//! The accepted neighbour of `fail/element_bool.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_elements(block: Block<128>, input: Tiles<u8, 128>) {
    let _ = (block, input);
}

fn main() {}
