//! The accepted neighbour of `fail/kernel_beside_module_of_its_name.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

mod ones {
    pub const ONE: u32 = 1;
}

#[kernel(module = ones_kernel)]
fn ones(block: Block<64>, mut out: TilesMut<u32, 64>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, ones::ONE));
}

fn main() {}
