//! The accepted neighbour of `fail/warp_pipeline_step_in_lane.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn acquire_in_some_warps(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |warp, pipe| {
        if warp.rank() < 2 {
            let _ = pipe.acquire().copy(input.tile(0)).commit();
        }
    });
}

fn main() {}
