//! The accepted neighbour of `fail/shared_of_an_array.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, kernel};

#[kernel]
fn with_a_tile(block: Block<128>, shared: Shared<Scratch<[f32; 128]>>) {
    let _ = (block, shared);
}

fn main() {}
