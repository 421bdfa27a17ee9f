//! On hardware each thread compares its own value: the threads disagree whether to sync, and hang.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_a_rank(block: Block<128>) {
    let rank = block.map(|t| t.rank());
    if rank == 0 {
        block.sync();
    }
}

fn main() {}
