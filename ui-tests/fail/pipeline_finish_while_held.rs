//! On hardware shared memory that is reused while threads still read their tile is overwritten
//! under them.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn finish_too_early(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, _tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let _ = pipe.finish();
}

fn main() {}
