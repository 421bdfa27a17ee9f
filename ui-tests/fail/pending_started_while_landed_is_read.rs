//! On hardware the second copy overwrites the tile while slow threads still read the first one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_over_the_reader(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let first = shared.copy(&block, input.tile(0)).wait();
    let second = shared.copy(&block, input.tile(1));
    let _ = block.map(|t| first[127 - t.rank()]);
    let _ = second.wait().release(&block);
}

fn main() {}
