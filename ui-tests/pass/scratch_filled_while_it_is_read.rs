//! The accepted neighbour of `fail/scratch_filled_while_it_is_read.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, TilesMut, kernel};

#[kernel]
fn differences(block: Block<64>, mut out: TilesMut<u32, 64>, shared: Shared<(Scratch<[u32; 64]>, Scratch<[u32; 64]>)>) {
    let (one, other) = shared.split();
    let (mut one, mut other) = (one.scratch(&block), other.scratch(&block));
    let first = one.fill(&block, |_, index| index as u32);
    let second = other.fill(&block, |_, index| 2 * index as u32);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, second[63 - t.rank()] - first[t.rank()]));
}

fn main() {}
