//! On hardware the pipeline would take its barriers' memory for a part of its stages.
#![forbid(unsafe_code)]
use tilepipe::role::Partitioned;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn run_unified(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
