//! On hardware each thread of a warp would write the whole of the warp's tiles.
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
        let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
            warp.lanes(|lane| dst.set_each(&lane.in_warp().alone(), |i| tile[31 - i]));
        });
    });
}

fn main() {}
