//! The accepted neighbour of `fail/landed_released_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_in_turn(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let first = tile.release(&block).copy(&block, input.tile(1));
    let second = first.wait().release(&block).copy(&block, input.tile(2));
    let _ = second.wait();
}

fn main() {}
