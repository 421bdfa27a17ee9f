//! On hardware a stage that is filled later than its turn is committed empty, and then overwritten
//! while it is read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_later(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut kept = None;
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| kept.replace(stage).unwrap().copy(input.tile(index)),
        |_tile, _index| {},
    );
}

fn main() {}
