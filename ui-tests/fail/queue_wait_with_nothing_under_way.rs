//! On hardware a wait for no copy returns at once: the threads read what was in the memory before.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_for_nothing(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block);
    let (queue, tile) = queue.wait_prior();
    let _ = block.map(|t| tile[t.rank()]);
    let _ = queue.release(tile);
}

fn main() {}
