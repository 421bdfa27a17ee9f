//! On hardware the block would write a thread's tiles with other threads.
#![forbid(unsafe_code)]
use tilepipe::{Block, Blocked, ByThreads, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

type Pairs = ([i32; 4], [i32; 4]);

#[kernel]
fn add(
    block: Block<32>,
    left: Tiles<i32, 4>,
    right: Tiles<i32, 4>,
    mut out: TilesMut<i32, 4, Blocked, ByThreads>,
    shared: Shared<Replicated<Stages<Pairs, 2, CpAsync, ThreadScope>, 32>>,
) {
    let out = out.for_threads(&block);
    let _ = shared.threads(&block, |t, pipe| {
        let batches = (&left.for_thread(&t), &right.for_thread(&t));
        let _ = pipe.for_each_tile(batches, |_, _| {});
        out.for_thread(&t)
    });
}

fn main() {}
