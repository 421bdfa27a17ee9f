//! A wait at thread scope is no barrier, and other threads' elements would be read.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, ThreadScope, kernel};

#[kernel]
fn compute_a_stage(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, LoadStore, ThreadScope>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().fill(&block, |_, e| e as i32).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
