//! The accepted neighbour of `fail/stage_read_while_filled.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn read_when_landed(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| stage.copy(input.tile(index)),
        |tile, _index| {
            let _first: i32 = tile[0];
        },
    );
}

fn main() {}
