//! The accepted neighbour of `fail/thread_pipeline_finished.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn finish_in_the_block(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let (_, retired) = shared.threads(&block, |_t, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
    let _ = retired.reclaim(&block);
}

fn main() {}
