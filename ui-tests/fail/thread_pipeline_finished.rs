//! As `fail/warp_pipeline_finished.rs`, with threads: on hardware some of them never reach the
//! block's barrier.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn finish_in_a_thread(block: Block<128>, input: Tiles<i32, 4>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |_t, pipe| {
        let pipe = pipe.acquire().copy(input.tile(0)).commit();
        let _ = pipe.finish();
    });
}

fn main() {}
