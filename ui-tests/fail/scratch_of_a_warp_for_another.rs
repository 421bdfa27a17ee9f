//! Lanes of other warps would read what this warp is still writing.
#![forbid(unsafe_code)]
use tilepipe::{Block, Replicated, Scratch, Shared, kernel};

#[kernel]
fn tiles_of_warps(block: Block<64>, shared: Shared<Replicated<Scratch<[u32; 32]>, 64>>) {
    let mut last = None;
    let _ = shared.warps(&block, |_, scratch| {
        last = Some(scratch);
    });
}

fn main() {}
