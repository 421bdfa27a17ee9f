//! On hardware two tiles that were exchanged are released in the wrong order: a stage is refilled
//! while it is read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn swap_tiles(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let (a, mut first) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (b, mut second) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    core::mem::swap(&mut first, &mut second);
    let (_, _) = (a.release(first), b.release(second));
}

fn main() {}
