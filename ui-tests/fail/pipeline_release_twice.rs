//! On hardware the second release frees the next stage, which nobody has read: the next copy
//! overwrites it.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let pipe = pipe.release(tile);
    let _ = pipe.release(tile);
}

fn main() {}
