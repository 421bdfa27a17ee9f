//! The accepted neighbour of `fail/scoped_tile_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn return_an_element(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let (_first, _) = shared.with_pipeline(&block, |pipe| pipe.acquire().copy(input.tile(0)).commit().wait().1[0]);
}

fn main() {}
