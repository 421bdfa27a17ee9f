//! On hardware a tile that has landed belongs to another stage, which may be refilled before this
//! copy has read it.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn copy_a_stage(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let (_a, tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let _ = b.pipeline(&block).acquire().copy(&*tile).commit();
}

fn main() {}
