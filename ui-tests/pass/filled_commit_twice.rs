//! The accepted neighbour of `fail/filled_commit_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_each_stage_once(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let tiles = input.for_block(&block);
    let pipe = shared.pipeline(&block).acquire().copy(tiles.get(0)).commit();
    let _ = pipe.acquire().copy(tiles.get(1)).commit();
}

fn main() {}
