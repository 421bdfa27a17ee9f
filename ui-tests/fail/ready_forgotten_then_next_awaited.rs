//! On hardware the barrier of the second wait would free the stage of a tile that was forgotten,
//! but is still read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn forget_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let (pipe, tile) = pipe.wait();
    core::mem::forget(tile);
    let (_pipe, _tile) = pipe.wait();
}

fn main() {}
