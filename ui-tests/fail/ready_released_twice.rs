//! On hardware a tile that is given back in place of the next one frees a stage that nobody has
//! read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn give_back_the_first_tile_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, first) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let pipe = pipe.release(first).acquire().copy(input.tile(1)).commit();
    let (pipe, _second) = pipe.wait();
    let _ = pipe.release(first);
}

fn main() {}
