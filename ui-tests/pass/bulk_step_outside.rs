//! The accepted neighbour of `fail/bulk_step_outside.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_inside(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
