//! The accepted neighbour of `fail/thread_pipeline_published.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn read_in_a_thread(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        let (pipe, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        let _sum = tile.iter().fold(0, |a, b| a ^ b);
        let _ = pipe.release(tile);
    });
}

fn main() {}
