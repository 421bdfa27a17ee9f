//! On hardware a tile that outlives its round of `for_each` is refilled by the driver while threads
//! read it.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_a_tile_of_for_each(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut last = None;
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| stage.copy(input.tile(index)),
        |tile, _index| last = Some(tile),
    );
}

fn main() {}
