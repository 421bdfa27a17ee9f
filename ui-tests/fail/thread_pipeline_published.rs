//! On hardware the barrier behind `publish` is the block's: threads that take another path never
//! reach it.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn publish_in_a_thread(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        let (pipe, tile) = pipe.acquire().copy(input.tile(0)).commit().wait();
        let (pipe, tile) = pipe.publish(tile);
        let _ = pipe.release(tile);
    });
}

fn main() {}
