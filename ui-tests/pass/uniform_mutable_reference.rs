//! The accepted neighbour of `fail/uniform_mutable_reference.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn decide_for_the_block(block: Block<128>) {
    let rounds = block.index();
    block.threads(|t| {
        let _ = t.rank() + rounds;
    });
    for _ in 0..rounds {
        block.sync();
    }
}

fn main() {}
