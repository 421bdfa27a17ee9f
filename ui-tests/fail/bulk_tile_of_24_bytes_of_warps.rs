//! As `fail/bulk_tile_of_24_bytes.rs`, in stages of each warp: the copies fault, or are undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[u8; 24], 2, Bulk, WarpScope>, 128>;
#[kernel]
fn copy_for_each_warp(block: Block<128>, input: Tiles<u8, 24>, shared: Shared<EachWarps>) {
    let _ = shared.warps(&block, |_warp, pipe| {
        let _ = pipe.for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
    });
}

fn main() {}
