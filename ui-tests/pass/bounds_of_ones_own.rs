//! The accepted neighbour of `fail/bounds_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, hoist_bounds, kernel};

#[kernel]
fn hoist_of_the_blocks(block: Block<128>, input: Tiles<i32, 128>) {
    hoist_bounds(input.for_block(&block), |tiles| {
        let _ = tiles.get(0);
    });
}

fn main() {}
