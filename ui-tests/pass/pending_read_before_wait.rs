//! The accepted neighbour of `fail/pending_read_before_wait.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_after_wait(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 1>>,
) {
    let mut results = out.for_block(&block);
    let tile = shared.copy(&block, input.tile(0)).wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
}

fn main() {}
