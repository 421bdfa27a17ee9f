//! The accepted neighbour of `fail/queue_wait_with_nothing_under_way.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_for_a_copy(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block).copy(input.tile(0));
    let (queue, tile) = queue.wait_prior();
    let _ = block.map(|t| tile[t.rank()]);
    let _ = queue.release(tile);
}

fn main() {}
