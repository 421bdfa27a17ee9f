//! The accepted neighbour of `fail/block_reduce_of_large_values.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_rows(block: Block<128>) {
    let rows = block.map(|_| [1.0_f64; 2]);
    let _ = block.reduce(&rows, |a, _| a);
}

fn main() {}
