//! On hardware a loop that commits a tile a round and waits for none runs out of stages and hangs.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_without_end(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block);
    for index in 0..input.tiles() {
        pipe = pipe.acquire().copy(input.tile(index)).commit();
    }
}

fn main() {}
