//! The accepted neighbour of `fail/ready_kept_across_loop.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_the_last_values(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block).weaken();
    let mut last = block.map(|_| 0);
    for index in 0..input.tiles() {
        let (p, tile) = pipe.acquire().copy(input.tile(index)).commit().wait();
        block.update(&mut last, |t, value| *value = tile[t.rank()]);
        pipe = p.release(tile);
    }
}

fn main() {}
