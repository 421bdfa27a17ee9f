//! On hardware the second commit closes a group or flips a phase of a stage that was never
//! acquired: the next copy overwrites a tile that is still read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let tiles = input.for_block(&block);
    let filled = shared.pipeline(&block).acquire().copy(tiles.get(0));
    let _ = filled.commit();
    let _ = filled.commit();
}

fn main() {}
