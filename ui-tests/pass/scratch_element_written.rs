//! The accepted neighbour of `fail/scratch_element_written.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, TilesMut, kernel};

#[kernel]
fn first_is_nine(block: Block<64>, mut out: TilesMut<u32, 64>, shared: Shared<Scratch<[u32; 64]>>) {
    let mut scratch = shared.scratch(&block);
    let mut tile = scratch.fill(&block, |_, index| index as u32);
    tile.update(&block, |_, index, old| if index == 0 { 9 } else { old });
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, tile[t.rank()]));
}

fn main() {}
