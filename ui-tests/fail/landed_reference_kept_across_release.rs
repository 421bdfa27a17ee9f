//! On hardware the released memory is the next copy's: the kept reference shows another tile, or
//! half of one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_a_reference(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let kept = &tile[..64];
    let memory = tile.release(&block);
    let _ = block.map(|t| kept[t.rank() / 2]);
    let _ = memory;
}

fn main() {}
