//! The accepted neighbour of `fail/warp_pipeline_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn drop_the_pipeline(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let (_, retired) = shared.warps(&block, |_warp, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
    let _ = retired;
}

fn main() {}
