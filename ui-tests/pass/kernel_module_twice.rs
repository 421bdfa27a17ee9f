//! The accepted neighbour of `fail/kernel_module_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(module = one)]
fn ones(block: Block<64>, mut out: TilesMut<u32, 64>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, 1));
}

fn main() {}
