//! The accepted neighbour of `fail/computed_stage_of_cp_async.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, kernel};

#[kernel]
fn compute_a_stage(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, LoadStore>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().fill(&block, |_, e| e as i32).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
