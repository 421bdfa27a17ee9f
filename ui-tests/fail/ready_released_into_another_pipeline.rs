//! On hardware the release arrives at another pipeline's barrier: that one's phases no longer match
//! its stages.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn release_elsewhere(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let (a, _tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (_b, tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let _ = a.release(tile);
}

fn main() {}
