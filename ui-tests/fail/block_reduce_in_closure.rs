//! On hardware the reduction's barriers wait for all threads, of which half never come.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_in_some_threads(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.map(|t| if t.rank() < 64 { block.reduce(&ranks, |a, b| a + b) } else { 0 });
}

fn main() {}
