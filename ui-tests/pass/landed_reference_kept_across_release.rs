//! The accepted neighbour of `fail/landed_reference_kept_across_release.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn end_with_the_reference(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let kept = &tile[..64];
    let _ = block.map(|t| kept[t.rank() / 2]);
    let memory = tile.release(&block);
    let _ = memory;
}

fn main() {}
