//! On hardware the next copy overwrites the elements that the slice still shows.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep(block: Block<64>, input: Tiles<i32, 64>, shared: Shared<Stages<([i32; 64], [i32; 64]), 1>>) {
    let source = (input.tile(0), input.tile(1));
    let (pipe, tiles) = shared.pipeline(&block).acquire().copy(source).commit().wait();
    let own = block.map(|t| tiles.own_of::<1>(&t));
    let _ = pipe.release(tiles);
    block.threads(|t| assert!(own.get(&t)[0] == 0));
}

fn main() {}
