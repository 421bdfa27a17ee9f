//! The accepted neighbour of `fail/contents_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type Small = [i32; 128];
#[kernel]
fn stage_it(block: Block<128>, shared: Shared<Stages<Small, 1>>) {
    let _ = (block, shared);
}

fn main() {}
