//! The accepted neighbour of `fail/private_stages_of_the_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn many_pipelines(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |_warp, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
