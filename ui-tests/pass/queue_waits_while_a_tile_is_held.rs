//! The accepted neighbour of `fail/queue_waits_while_a_tile_is_held.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_for_both(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block).copy(input.tile(0)).copy(input.tile(1));
    let (queue, first) = queue.wait_prior();
    let first_values = block.map(|t| first[t.rank()]);
    let (queue, second) = queue.release(first).wait_prior();
    let _ = block.map(|t| first_values.get(&t) + second[t.rank()]);
    let _ = queue;
}

fn main() {}
