//! On hardware a tile that is never released leaves its stage full: the producer waits for it
//! without end.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn forget_tiles(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block);
    for index in 0..input.tiles() {
        let (p, tile) = pipe.acquire().copy(input.tile(index)).commit().wait();
        core::mem::forget(tile);
        pipe = p;
    }
}

fn main() {}
