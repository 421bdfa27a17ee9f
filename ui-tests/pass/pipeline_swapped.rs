//! The accepted neighbour of `fail/pipeline_swapped.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn two_pipelines(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let first = a.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let second = b.pipeline(&block).acquire().copy(input.tile(1)).commit();
    let (_, _) = (first.wait(), second.wait());
}

fn main() {}
