//! On hardware the tile's stage goes back to the block when the closure ends, and is refilled while
//! it is read.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn keep_the_tile(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let (_, retired) = shared.warps(&block, |_warp, pipe| {
        let (_pipe, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        tile.tiles()
    });
    let _ = retired;
}

fn main() {}
