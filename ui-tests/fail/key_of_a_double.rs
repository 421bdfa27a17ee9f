//! On hardware the key of an `f64` would lose half of its bits, and the largest value with them.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel, key};

#[kernel]
fn largest(block: Block<128>, input: Tiles<f64, 128>) {
    let keys = block.map(|t| key::argmax(input.at(t.rank()), t.rank() as u32));
    let _ = block.reduce(&keys, u64::max);
}

fn main() {}
