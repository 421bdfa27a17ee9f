//! On hardware the tile would be read while other copies fill its memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn take_tile_out(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let (_tile, _) = shared.with_pipeline(&block, |pipe| pipe.acquire().copy(input.tile(0)).commit().wait().1);
}

fn main() {}
