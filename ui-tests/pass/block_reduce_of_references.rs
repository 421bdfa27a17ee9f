//! The accepted neighbour of `fail/block_reduce_of_references.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_values(block: Block<128>) {
    let local = 7_u32;
    let values = block.map(|_| local);
    let _ = block.reduce(&values, |a, b| if a < b { a } else { b });
}

fn main() {}
