//! The accepted neighbour of `fail/pipeline_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn look_at_its_size(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let size = size_of_val(&pipe);
    block.threads(|_| {
        let _ = size;
    });
}

fn main() {}
