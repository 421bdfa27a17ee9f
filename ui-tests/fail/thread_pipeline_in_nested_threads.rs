//! On hardware a thread that starts the block's threads again runs on alone: there is one level of
//! them.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn nest(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        block.threads(move |_| {
            let _ = pipe.acquire().copy(input.tile(0)).commit();
        });
    });
}

fn main() {}
