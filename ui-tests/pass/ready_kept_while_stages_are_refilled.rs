//! The accepted neighbour of `fail/ready_kept_while_stages_are_refilled.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn refill_after_the_reader(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let mut results = out.for_block(&block);
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let (pipe, tile) = pipe.acquire().copy(input.tile(1)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
    let _ = pipe.release(tile).acquire().copy(input.tile(2)).commit();
}

fn main() {}
