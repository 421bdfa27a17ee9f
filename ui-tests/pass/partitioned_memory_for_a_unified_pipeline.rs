//! The accepted neighbour of `fail/partitioned_memory_for_a_unified_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn run_unified(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
