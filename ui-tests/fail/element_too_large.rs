//! On hardware no access moves more than 16 bytes, and half an element may be read with half of
//! another one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_matrices(block: Block<128>, input: Tiles<[[f32; 3]; 3], 128>) {
    let _ = input.for_block(&block).len();
}

fn main() {}
