//! The accepted neighbour of `fail/per_thread_read_by_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn hand_a_rank_back(block: Block<128>) {
    let rank = block.map(|t| t.rank());
    block.threads(|t| if rank.get(&t) == 0 {});
    block.sync();
}

fn main() {}
