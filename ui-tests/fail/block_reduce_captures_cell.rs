//! On hardware each thread counts the combinations that it makes itself: the threads disagree, and
//! hang.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, kernel};

#[kernel]
fn count_combinations(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let count = Cell::new(0);
    let _ = block.reduce(&ranks, |a, b| {
        count.set(count.get() + 1);
        a + b
    });
    if count.get() > 5 {
        block.sync();
    }
}

fn main() {}
