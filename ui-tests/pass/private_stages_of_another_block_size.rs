//! The accepted neighbour of `fail/private_stages_of_another_block_size.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, kernel};

type EachThreads = Replicated<Stages<[i32; 4], 2, CpAsync, ThreadScope>, 128>;
#[kernel]
fn give_to_all(block: Block<128>, shared: Shared<EachThreads>) {
    let _ = shared.threads(&block, |t, _pipe| t.rank());
}

fn main() {}
