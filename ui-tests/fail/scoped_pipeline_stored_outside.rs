//! On hardware the pipeline would fill memory that has been given back.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn store_outside(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let mut kept = None;
    let _ = shared.with_pipeline(&block, |pipe| kept = Some(pipe));
    if let Some(pipe) = kept {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    }
}

fn main() {}
