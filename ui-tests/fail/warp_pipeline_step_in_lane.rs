//! On hardware some lanes commit a group and others do not: the warp no longer agrees on what has
//! landed.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn acquire_in_some_lanes(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |warp, pipe| {
        warp.lanes(move |lane| {
            if lane.rank() < 16 {
                let _ = pipe.acquire().copy(input.tile(0)).commit();
            }
        });
    });
}

fn main() {}
