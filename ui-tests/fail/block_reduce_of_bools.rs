//! On hardware a combined value passes through memory as bytes, of which most are no `bool`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_bools(block: Block<128>) {
    let even = block.map(|t| t.rank() % 2 == 0);
    if block.reduce(&even, |a, b| a || b) {
        block.sync();
    }
}

fn main() {}
