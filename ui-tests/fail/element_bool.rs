//! On hardware a byte that is neither 0 nor 1 would become a `bool`, of which there are two.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_elements(block: Block<128>, input: Tiles<bool, 128>) {
    let _ = (block, input);
}

fn main() {}
