//! The accepted neighbour of `fail/stage_kept_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_in_turn(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut last = None;
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| stage.copy(*last.insert(input.tile(index))),
        |_tile, _index| {},
    );
}

fn main() {}
