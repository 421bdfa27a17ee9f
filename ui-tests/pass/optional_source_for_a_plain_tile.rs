//! The accepted neighbour of `fail/optional_source_for_a_plain_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<Optional<[i32; 128]>, 2>>) {
    let source = (input.tiles() > 1).then(|| input.tile(1));
    let _ = shared.pipeline(&block).acquire().copy(source).commit();
}

fn main() {}
