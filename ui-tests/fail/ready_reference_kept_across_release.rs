//! On hardware the reference points into a stage that the next copy fills, and the compiler may
//! even drop the reload.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn keep_a_reference(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let first = &tile[0];
    let _ = pipe.release(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, *first));
}

fn main() {}
