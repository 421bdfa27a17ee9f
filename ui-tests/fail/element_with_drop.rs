//! On hardware a byte-wise copy of an owner is a second owner: its memory is freed twice.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_owners(block: Block<128>, input: Tiles<String, 128>) {
    let _ = (block, input);
}

fn main() {}
