//! The accepted neighbour of `fail/key_of_a_double.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel, key};

#[kernel]
fn largest(block: Block<128>, input: Tiles<f32, 128>) {
    let keys = block.map(|t| key::argmax(input.at(t.rank()), t.rank() as u32));
    let _ = block.reduce(&keys, u64::max);
}

fn main() {}
