//! On hardware one thread would issue for all warps, and the others would not wait for it.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, WarpScope, kernel};

#[kernel]
fn copy_for_warps(block: Block<128>, input: Tiles<i32, 512>, shared: Shared<Stages<[i32; 512], 2, Bulk, WarpScope>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
}

fn main() {}
