//! On hardware each thread has a sum of its own: the threads disagree whether to sync, and hang.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_a_scan(block: Block<128>) {
    let sums = block.scan(&block.map(|t| t.rank() as u32), |a, b| a + b);
    if sums > 5 {
        block.sync();
    }
}

fn main() {}
