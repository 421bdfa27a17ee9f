//! The accepted neighbour of `fail/member_tiles_in_a_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByWarps, Striped, TilesMut, kernel};

#[kernel]
fn both(block: Block<64>, mut out: TilesMut<u32, 32, Striped, ByWarps>) {
    let out = out.for_warps(&block);
    block.warps(|warp| {
        let mut results = out.for_warp(&warp);
        let dst = results.get_mut(0);
        warp.lanes(|lane| dst.set(&lane.in_warp(), 1));
    });
}

fn main() {}
