//! The accepted neighbour of `fail/bulk_queue.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, kernel};

#[kernel]
fn start_two(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, CpAsync>>) {
    let queue = shared.queue(&block).copy(input.tile(0)).copy(input.tile(1));
    let (queue, tile) = queue.wait_prior();
    let _ = queue.release(tile);
}

fn main() {}
