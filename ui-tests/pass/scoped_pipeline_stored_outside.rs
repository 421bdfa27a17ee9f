//! The accepted neighbour of `fail/scoped_pipeline_stored_outside.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn store_inside(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let mut read = None;
    let _ = shared.with_pipeline(&block, |pipe| {
        let kept = Some(pipe);
        if let Some(pipe) = kept {
            let (_, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
            read = Some(tile[0]);
        }
    });
}

fn main() {}
