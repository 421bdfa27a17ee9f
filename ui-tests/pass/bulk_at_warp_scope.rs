//! The accepted neighbour of `fail/bulk_at_warp_scope.rs`: a pipeline of each warp's own.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 512], 2, Bulk, WarpScope>, 128>;
#[kernel]
fn copy_for_each_warp(block: Block<128>, input: Tiles<i32, 512>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |_warp, pipe| {
        let _ = pipe.for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
    });
}

fn main() {}
