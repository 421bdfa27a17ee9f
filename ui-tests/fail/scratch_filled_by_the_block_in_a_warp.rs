//! The barriers of `fill` would be the block's, in code of one warp.
#![forbid(unsafe_code)]
use tilepipe::{Block, Replicated, Scratch, Shared, kernel};

#[kernel]
fn tiles_of_warps(block: Block<64>, shared: Shared<Replicated<Scratch<[u32; 32]>, 64>>) {
    let _ = shared.warps(&block, |_, mut scratch| {
        let _ = scratch.fill(&block, |t, _| t.rank() as u32);
    });
}

fn main() {}
