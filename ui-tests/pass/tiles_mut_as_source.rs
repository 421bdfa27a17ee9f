//! The accepted neighbour of `fail/tiles_mut_as_source.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_from_input(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).acquire().copy(tiles.get(0)).commit();
}

fn main() {}
