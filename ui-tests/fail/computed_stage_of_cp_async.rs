//! `commit` of `cp.async` does not wait for ordinary stores.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn compute_a_stage(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().fill(&block, |_, e| e as i32).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
