//! The accepted neighbour of `fail/element_too_large.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_rows(block: Block<128>, input: Tiles<[f32; 3], 128>) {
    let _ = input.for_block(&block).len();
}

fn main() {}
