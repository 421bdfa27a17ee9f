//! On hardware a type that says nothing of its layout has no place in shared memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn stage_a_slice(block: Block<128>, shared: Shared<Stages<&'static [i32], 2>>) {
    let _ = (block, shared);
}

fn main() {}
