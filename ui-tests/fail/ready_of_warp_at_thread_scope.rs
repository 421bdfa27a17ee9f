//! On hardware the copies of the other lanes may not have landed: at thread scope nobody waited for
//! them.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn read_the_warps_elements(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile.of_warp(&t)[31 - t.rank() % 32]));
    let _ = pipe.release(tile);
}

fn main() {}
