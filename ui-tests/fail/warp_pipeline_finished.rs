//! On hardware the memory would go back to one warp while the others still use theirs.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn finish_in_a_warp(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |_warp, pipe| {
        let pipe = pipe.acquire().copy(input.tile(0)).commit();
        let _ = pipe.finish();
    });
}

fn main() {}
