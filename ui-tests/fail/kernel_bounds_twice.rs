//! One of two bounds would be lost.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(min_blocks = 2, max_registers = 64, min_blocks = 4)]
fn bounded(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
