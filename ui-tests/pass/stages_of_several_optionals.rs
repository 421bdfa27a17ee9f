//! The accepted neighbour of `fail/stages_of_several_optionals.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn sometimes_one(block: Block<128>, shared: Shared<Stages<Optional<[i32; 128]>, 2>>) {
    let _ = (block, shared);
}

fn main() {}
