//! The guide's last thread-scope kernel, as near as block scope comes to it: a fast thread starts
//! the copy of tile 2 into the stage in which slow threads still read tile 0. On an H200 that
//! kernel gives wrong results.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn refill_under_the_reader(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let mut results = out.for_block(&block);
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let (pipe, tile) = pipe.acquire().copy(input.tile(1)).commit().wait();
    let pipe = pipe.acquire().copy(input.tile(2)).commit();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
    let _ = pipe.release(tile);
}

fn main() {}
