//! The accepted neighbour of `fail/filled_of_another_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_to_its_own(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<(Stages<[i32; 128], 1>, Stages<[i32; 128], 1>)>,
) {
    let (a, b) = shared.split();
    let (_, _tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (_, _tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
}

fn main() {}
