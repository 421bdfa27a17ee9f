//! The accepted neighbour of `fail/scoped_pipeline_finished.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, kernel};

#[kernel]
fn memory_comes_back(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let ((), shared) = shared.with_pipeline(&block, |_pipe| {});
    let _ = shared.with_pipeline(&block, |_pipe| {});
}

fn main() {}
