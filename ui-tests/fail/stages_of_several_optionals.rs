//! Which of several tiles a stage holds is not counted: on hardware a missing one would be read as
//! an old one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn sometimes_two(block: Block<128>, shared: Shared<Stages<(Optional<[i32; 128]>, [i32; 128]), 2>>) {
    let _ = (block, shared);
}

fn main() {}
