//! On hardware each tile would be read where the other one's copy lands.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn swap_copies(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let mut first = a.copy(&block, input.tile(0));
    let mut second = b.copy(&block, input.tile(1));
    core::mem::swap(&mut first, &mut second);
    let (_, _) = (first.wait(), second.wait());
}

fn main() {}
