//! The accepted neighbour of `fail/exclusive_scan_by_its_own_value.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scan_with_one_initial(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let first = block.broadcast(&ranks, 5);
    let _ = block.exclusive_scan(&ranks, first, |a, b| a + b);
}

fn main() {}
