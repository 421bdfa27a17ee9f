//! On hardware slower warps may still be reading the memory that the next copies are started into.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, Tiles, WarpScope, kernel};

type EachWarps = Replicated<Stages<[i32; 32], 2, CpAsync, WarpScope>, 128>;
#[kernel]
fn use_again(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<EachWarps>) {
    let (_, memory) = shared.warps(&block, |_warp, pipe| {
        let (_pipe, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        tile[0]
    });
    let _ = memory.warps(&block, |_warp, pipe| {
        let _ = pipe.acquire().copy(input.tile(1)).commit();
    });
}

fn main() {}
