//! What a block keeps on the heap of the CPU is its own.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep(block: Block<32>) {
    let numbers = vec![1_u8, 2, 3];
    block.warps(|warp| warp.sync());
    assert_eq!(numbers.len(), 3);
}

fn main() {}
