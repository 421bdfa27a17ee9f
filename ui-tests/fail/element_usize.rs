//! On a host of 32 bits and a GPU of 64 the elements would have two sizes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_elements(block: Block<128>, input: Tiles<usize, 128>) {
    let _ = (block, input);
}

fn main() {}
