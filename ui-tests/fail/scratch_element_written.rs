//! All threads would write one element, and some read it at the same time.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, TilesMut, kernel};

#[kernel]
fn first_is_nine(block: Block<64>, mut out: TilesMut<u32, 64>, shared: Shared<Scratch<[u32; 64]>>) {
    let mut scratch = shared.scratch(&block);
    let tile = scratch.fill(&block, |_, index| index as u32);
    tile[0] = 9;
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, tile[t.rank()]));
}

fn main() {}
