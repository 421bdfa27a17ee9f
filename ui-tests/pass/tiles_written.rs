//! The accepted neighbour of `fail/tiles_written.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_output(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let tile = results.get_mut(0);
    block.threads(|t| tile.set(&t, 1));
}

fn main() {}
