//! The accepted neighbour of `fail/store_tiles_by_threads_too.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, BulkTilesMut, Outputs, Shared, kernel};

#[kernel]
fn ones(block: Block<64>, out: BulkTilesMut<u32, 256>, shared: Shared<Outputs<[u32; 256], 2>>) {
    let mut results = shared.outputs(&block, out);
    results.tile(0).fill(&block, |_| 1);
}

fn main() {}
