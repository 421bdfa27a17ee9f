//! On hardware stages of one warp or one thread each are no place for a tile of the block.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn one_pipeline(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
