//! Two tokens of one block: each would hand out every slot once, so that two threads own it.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn take_two_blocks(block: Block<128>, other: Block<128>) {
    let _ = (block, other);
}

fn main() {}
