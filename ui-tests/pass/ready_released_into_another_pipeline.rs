//! The accepted neighbour of `fail/ready_released_into_another_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn release_where_it_came_from(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let (a, tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (_b, _tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let _ = a.release(tile);
}

fn main() {}
