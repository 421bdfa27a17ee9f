//! The accepted neighbour of `fail/stages_of_several_tiles_indexed.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type Both = ([i32; 128], [i32; 128]);
#[kernel]
fn read_one(block: Block<128>, a: Tiles<i32, 128>, b: Tiles<i32, 128>, shared: Shared<Stages<Both, 2>>) {
    let (pipe, tiles) = shared.pipeline(&block).acquire().copy((a.tile(0), b.tile(0))).commit().wait();
    let _ = block.map(|t| tiles.tiles().1[t.rank()]);
    let _ = pipe.release(tiles);
}

fn main() {}
