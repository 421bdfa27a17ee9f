//! On hardware two pipelines in the same shared memory overwrite each other's tiles.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn two_in_one(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let a = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let b = shared.pipeline(&block).acquire().copy(input.tile(1)).commit();
    let (_, _) = (a.wait(), b.wait());
}

fn main() {}
