//! On hardware each warp would read the tiles of its block and write those of its own: wrong ones.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByWarps, CpAsync, Replicated, Shared, Stages, Striped, Tiles, TilesMut, WarpScope, kernel};

#[kernel]
fn reverse(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32, Striped, ByWarps>,
    shared: Shared<Replicated<Stages<[u32; 32], 2, CpAsync, WarpScope>, 64>>,
) {
    let tiles = input.for_block(&block);
    let out = out.for_warps(&block);
    let _ = shared.warps(&block, |warp, pipe| {
        let mut results = out.for_warp(&warp);
        let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
            warp.lanes(|lane| dst.set(&lane.in_warp(), tile[31 - lane.rank()]));
        });
    });
}

fn main() {}
