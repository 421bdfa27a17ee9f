//! On hardware each thread would scan with an initial value of its own, and the total would be one
//! thread's.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scan_with_own_initial(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.exclusive_scan(&ranks, ranks, |a, b| a + b);
}

fn main() {}
