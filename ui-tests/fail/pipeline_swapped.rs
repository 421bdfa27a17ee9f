//! On hardware each pipeline would go on with the other one's stages, and release what the other
//! one reads.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn swap_pipelines(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let mut first = a.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let mut second = b.pipeline(&block).acquire().copy(input.tile(1)).commit();
    core::mem::swap(&mut first, &mut second);
    let (_, _) = (first.wait(), second.wait());
}

fn main() {}
