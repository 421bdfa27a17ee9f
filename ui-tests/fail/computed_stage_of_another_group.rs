//! The warps run at their own pace: the block does not fill a stage of one of them.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Replicated, Shared, Stages, WarpScope, kernel};

#[kernel]
fn compute_a_stage(block: Block<64>, shared: Shared<Replicated<Stages<[i32; 32], 1, LoadStore, WarpScope>, 64>>) {
    let _ = shared.warps(&block, |_, pipe| {
        let (pipe, tile) = pipe.acquire().fill(&block, |_, e| e as i32).commit().wait();
        let _ = pipe.release(tile);
    });
}

fn main() {}
