//! What a number has to be to count as true differs from reader to reader: the vote takes `bool`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn vote_with_numbers(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as i32 - 5);
    if block.any(&ranks) {
        block.sync();
    }
}

fn main() {}
