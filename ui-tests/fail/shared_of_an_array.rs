//! Nothing says who may access an array in shared memory, and when.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, kernel};

#[kernel]
fn with_an_array(block: Block<128>, shared: Shared<[f32; 128]>) {
    let _ = (block, shared);
}

fn main() {}
