//! The accepted neighbour of `fail/warp_ready_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn keep_an_element(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let (_, retired) = shared.warps(&block, |_warp, pipe| {
        let (_pipe, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        tile[0]
    });
    let _ = retired;
}

fn main() {}
