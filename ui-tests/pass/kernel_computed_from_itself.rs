//! The accepted neighbour of `fail/kernel_computed_from_itself.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel(instances(THREADS = [128, 256], LEN = [4 * THREADS]))]
fn wide<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    shared: Shared<Stages<[i32; LEN], 2>>,
) {
    let _ = (block, input, shared);
}

fn main() {}
