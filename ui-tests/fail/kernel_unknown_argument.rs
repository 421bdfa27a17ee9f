//! A misspelt bound would be lost.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(max_register = 64)]
fn bounded(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
