//! On hardware all warps would copy into the same stages, each at its own pace.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, WarpScope, kernel};

#[kernel]
fn share(block: Block<128>, input: Tiles<i32, 32>, shared: Shared<Stages<[i32; 32], 2, CpAsync, WarpScope>>) {
    let _ = shared.warps(&block, |_warp, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
