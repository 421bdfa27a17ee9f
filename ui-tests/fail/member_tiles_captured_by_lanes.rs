//! On hardware each lane would take another tile, and write the elements of other lanes in it.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByWarps, CpAsync, Replicated, Shared, Stages, Striped, Tiles, TilesMut, WarpScope, kernel};

#[kernel]
fn reverse(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32, Striped, ByWarps>,
    shared: Shared<Replicated<Stages<[u32; 32], 2, CpAsync, WarpScope>, 64>>,
) {
    let out = out.for_warps(&block);
    let _ = shared.warps(&block, |warp, pipe| {
        let (tiles, mut results) = (input.for_warp(&warp), out.for_warp(&warp));
        let _ = pipe.for_each_tile(&tiles, |_, i| {
            warp.lanes(|lane| results.get_mut(i).set(&lane.in_warp(), 1));
        });
    });
}

fn main() {}
