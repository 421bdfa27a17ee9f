//! On hardware threads would write tiles while the engine stores them.
#![forbid(unsafe_code)]
use tilepipe::{Block, BulkTilesMut, Outputs, Shared, kernel};

#[kernel]
fn ones(block: Block<64>, mut out: BulkTilesMut<u32, 256>, shared: Shared<Outputs<[u32; 256], 2>>) {
    let mut tiles = out.for_block(&block);
    let dst = tiles.get_mut(0);
    block.threads(|t| dst.set_each(&t, |_| 1));
    let _ = shared;
}

fn main() {}
