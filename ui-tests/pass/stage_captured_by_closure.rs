//! The accepted neighbour of `fail/stage_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_by_the_block(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| {
            block.threads(|_| {});
            stage.copy(input.tile(index))
        },
        |_tile, _index| {},
    );
}

fn main() {}
