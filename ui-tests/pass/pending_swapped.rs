//! The accepted neighbour of `fail/pending_swapped.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn two_copies(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let first = a.copy(&block, input.tile(0));
    let second = b.copy(&block, input.tile(1));
    let (_, _) = (first.wait(), second.wait());
}

fn main() {}
