//! The accepted neighbour of `fail/kernel_min_blocks_of_none.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(min_blocks = 1)]
fn bounded(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
