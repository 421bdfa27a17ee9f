//! The accepted neighbour of `fail/stages_none.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn one_stage(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
