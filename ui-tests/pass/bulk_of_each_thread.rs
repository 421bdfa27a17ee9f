//! The accepted neighbour of `fail/bulk_of_each_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn copy_ones_own(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
