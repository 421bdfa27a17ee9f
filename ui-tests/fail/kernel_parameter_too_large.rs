//! On hardware each thread would copy the values to its local memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn filter(block: Block<128>, weights: [f32; 9]) {
    let _ = (block, weights[8]);
}

fn main() {}
