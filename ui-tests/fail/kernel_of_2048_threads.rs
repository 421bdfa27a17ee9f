//! No block has so many threads.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
pub fn ones(block: Block<2048>, mut out: TilesMut<u32, 2048>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, 1));
}

fn main() {}
