//! The accepted neighbour of `fail/computed_stage_of_another_group.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Replicated, Shared, Stages, WarpScope, kernel};

#[kernel]
fn compute_a_stage(block: Block<64>, shared: Shared<Replicated<Stages<[i32; 32], 1, LoadStore, WarpScope>, 64>>) {
    let _ = shared.warps(&block, |warp, pipe| {
        let (pipe, tile) = pipe.acquire().fill(&warp, |_, e| e as i32).commit().wait();
        let _ = pipe.release(tile);
    });
}

fn main() {}
