//! The accepted neighbour of `fail/stages_of_a_slice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn stage_an_array(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = (block, shared);
}

fn main() {}
