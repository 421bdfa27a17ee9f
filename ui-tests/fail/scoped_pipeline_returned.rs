//! On hardware the pipeline would fill memory that has been given back, and its mbarriers have
//! ended.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn take_out(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let (pipe, _) = shared.with_pipeline(&block, |pipe| pipe);
    let _ = pipe.acquire().copy(input.tile(0)).commit();
}

fn main() {}
