//! On hardware four bytes that are no Unicode scalar value would become a `char`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_elements(block: Block<128>, input: Tiles<char, 128>) {
    let _ = (block, input);
}

fn main() {}
