//! The accepted neighbour of `fail/scoped_pipeline_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn return_what_was_read(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let (first, shared) = shared.with_pipeline(&block, |pipe| {
        let (_, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        tile[0]
    });
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(first as usize)).commit();
    });
}

fn main() {}
