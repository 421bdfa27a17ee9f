//! On hardware the tile of the round before is overwritten by this round's copy while threads
//! compare the two.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_the_last_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block);
    let mut last = None;
    for index in 0..input.tiles() {
        let (p, tile) = pipe.acquire().copy(input.tile(index)).commit().wait();
        last = Some(tile);
        pipe = p;
    }
    let _ = last;
}

fn main() {}
