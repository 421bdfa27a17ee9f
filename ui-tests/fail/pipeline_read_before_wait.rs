//! On hardware the copy may not have landed yet: threads read a mixture of old and new bytes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_early(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let mut results = out.for_block(&block);
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, pipe[t.rank()]));
}

fn main() {}
