//! On hardware the third copy overwrites the first one, which nobody has read yet.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn start_three(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block).copy(input.tile(0)).copy(input.tile(1));
    let queue = queue.copy(input.tile(2));
    let (queue, tile) = queue.wait_prior();
    let _ = queue.release(tile);
}

fn main() {}
