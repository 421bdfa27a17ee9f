//! A thread that is done fills the tile again while another one still reads it: a data race.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, TilesMut, kernel};

#[kernel]
fn differences(block: Block<64>, mut out: TilesMut<u32, 64>, shared: Shared<Scratch<[u32; 64]>>) {
    let mut scratch = shared.scratch(&block);
    let first = scratch.fill(&block, |_, index| index as u32);
    let second = scratch.fill(&block, |_, index| 2 * index as u32);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, second[63 - t.rank()] - first[t.rank()]));
}

fn main() {}
