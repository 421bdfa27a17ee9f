//! Whether a stage may be empty is said at each `copy`, or on hardware one may be read that nobody
//! filled.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<Optional<[i32; 128]>, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
