//! The accepted neighbour of `fail/scratch_read_after_its_end.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Scratch, Shared, TilesMut, kernel};

#[kernel]
fn turned(block: Block<64>, mut out: TilesMut<u32, 64>, shared: Shared<Scratch<[u32; 64]>>) {
    let mut scratch = shared.scratch(&block);
    let tile = scratch.fill(&block, |_, index| index as u32);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, tile[63 - t.rank()]));
    let _shared = scratch.finish(&block);
}

fn main() {}
