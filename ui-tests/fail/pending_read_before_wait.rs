//! On hardware the copy may not have landed yet: threads read a mixture of old and new bytes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_early(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 1>>,
) {
    let mut results = out.for_block(&block);
    let tile = shared.copy(&block, input.tile(0));
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
}

fn main() {}
