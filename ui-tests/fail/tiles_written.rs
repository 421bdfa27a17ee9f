//! On hardware a write to an input races with every copy that still reads it, in this block and in
//! all others.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn write_input(block: Block<128>, input: Tiles<i32, 128>) {
    let tile = input.tile(0);
    block.threads(|t| tile.set(&t, 1));
}

fn main() {}
