//! On hardware `cp.async` moves at least 4 bytes: a thread's own stage of two bytes has no such
//! copy.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[u8; 2], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn copy_ones_own(block: Block<128>, input: Tiles<u8, 2>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
