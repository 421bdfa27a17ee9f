//! The accepted neighbour of `fail/kernel_of_2048_threads.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
pub fn ones(block: Block<1024>, mut out: TilesMut<u32, 1024>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, 1));
}

fn main() {}
