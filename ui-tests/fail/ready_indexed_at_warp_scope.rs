//! On hardware another warp's copies may not have landed: at warp scope only one's own warp was
//! waited for.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, TilesMut, WarpScope, kernel};

#[kernel]
fn read_across_warps(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, WarpScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
    let _ = pipe.release(tile);
}

fn main() {}
