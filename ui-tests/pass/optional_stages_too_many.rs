//! The accepted neighbour of `fail/optional_stages_too_many.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn just_enough(block: Block<128>, shared: Shared<Stages<Optional<[i32; 128]>, 32>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
