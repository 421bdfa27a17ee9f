//! On hardware the stage still holds what an earlier round left there: `wait` hands out stale data.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn commit_an_empty_stage(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).acquire().commit();
}

fn main() {}
