//! The accepted neighbour of `fail/block_any_of_numbers.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn vote_with_answers(block: Block<128>) {
    let large = block.map(|t| t.rank() as i32 > 5);
    if block.any(&large) {
        block.sync();
    }
}

fn main() {}
