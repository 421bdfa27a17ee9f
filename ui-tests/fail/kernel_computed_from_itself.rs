//! Two generic parameters, each computed from the other: neither has a value.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel(instances(THREADS = [LEN / 4], LEN = [4 * THREADS]))]
fn wide<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    shared: Shared<Stages<[i32; LEN], 2>>,
) {
    let _ = (block, input, shared);
}

fn main() {}
