//! On hardware the block's threads and the warps would write the same tiles, in other threads and
//! other blocks: a data race.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByWarps, CpAsync, Replicated, Shared, Stages, Striped, Tiles, TilesMut, WarpScope, kernel};

#[kernel]
fn reverse(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32, Striped, ByWarps>,
    shared: Shared<Replicated<Stages<[u32; 32], 2, CpAsync, WarpScope>, 64>>,
) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, 1));
    let out = out.for_warps(&block);
    let _ = shared.warps(&block, |warp, pipe| {
        let (tiles, mut results) = (input.for_warp(&warp), out.for_warp(&warp));
        let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
            warp.lanes(|lane| dst.set(&lane.in_warp(), tile[31 - lane.rank()]));
        });
    });
}

fn main() {}
