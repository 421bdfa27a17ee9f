//! The accepted neighbour of `fail/optional_filled_without_option.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<Optional<[i32; 128]>, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(Some(input.tile(0))).commit();
}

fn main() {}
