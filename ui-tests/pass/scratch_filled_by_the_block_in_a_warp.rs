//! The accepted neighbour of `fail/scratch_filled_by_the_block_in_a_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Replicated, Scratch, Shared, kernel};

#[kernel]
fn tiles_of_warps(block: Block<64>, shared: Shared<Replicated<Scratch<[u32; 32]>, 64>>) {
    let _ = shared.warps(&block, |warp, mut scratch| {
        let _ = scratch.fill(&warp, |lane, _| lane.rank() as u32);
    });
}

fn main() {}
