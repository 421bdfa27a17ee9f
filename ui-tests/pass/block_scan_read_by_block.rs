//! The accepted neighbour of `fail/block_scan_read_by_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_a_scan(block: Block<128>) {
    let sums = block.scan(&block.map(|t| t.rank() as u32), |a, b| a + b);
    if block.broadcast(&sums, 127) > 5 {
        block.sync();
    }
}

fn main() {}
