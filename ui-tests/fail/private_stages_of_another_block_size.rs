//! On hardware the other 128 threads would have stages outside the memory that the launch reserves.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn give_to_more(block: Block<256>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |t, _pipe| t.rank());
}

fn main() {}
