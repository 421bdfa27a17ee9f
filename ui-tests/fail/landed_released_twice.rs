//! On hardware two copies would be started into one piece of memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_again(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let first = tile.release(&block).copy(&block, input.tile(1));
    let second = tile.release(&block).copy(&block, input.tile(2));
    let (_, _) = (first.wait(), second.wait());
}

fn main() {}
