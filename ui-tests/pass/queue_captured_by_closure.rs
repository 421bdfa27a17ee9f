//! The accepted neighbour of `fail/queue_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_before_the_closure(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block).copy(input.tile(0));
    let (queue, tile) = queue.wait_prior();
    let _ = block.map(|t| if t.rank() < 64 { tile[t.rank()] } else { 0 });
    let _ = queue.release(tile);
}

fn main() {}
