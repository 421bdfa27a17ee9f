//! On hardware the third acquire of a unified pipeline with two stages waits for a release that
//! only its own threads could make: a deadlock.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn three_of_two_stages(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let _ = pipe.acquire().copy(input.tile(2)).commit();
}

fn main() {}
