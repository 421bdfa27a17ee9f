//! The accepted neighbour of `fail/scratch_of_a_warp_for_another.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Replicated, Scratch, Shared, kernel};

#[kernel]
fn tiles_of_warps(block: Block<64>, shared: Shared<Replicated<Scratch<[u32; 32]>, 64>>) {
    let (_least, _memory) = shared.warps(&block, |warp, mut scratch| {
        let tile = scratch.fill(&warp, |lane, _| lane.rank() as u32);
        tile.iter().copied().fold(u32::MAX, u32::min)
    });
}

fn main() {}
