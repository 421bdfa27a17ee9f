//! On hardware a kernel has nobody to return to: the value is lost.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn return_a_count(block: Block<128>, input: Tiles<i32, 128>) -> usize {
    input.for_block(&block).len()
}

fn main() {}
