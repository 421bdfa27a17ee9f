//! On hardware the barriers of a `published` pipeline are the block's: threads with fewer tiles
//! never reach them.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn publish_each(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |t, pipe| {
        let count = t.rank();
        let _ = pipe.published().for_each(count, |stage, i| stage.copy(input.tile(i)), |_tile, _i| {});
    });
}

fn main() {}
