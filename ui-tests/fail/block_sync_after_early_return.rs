//! On hardware the threads that have returned never reach the barrier.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn return_early(block: Block<128>) {
    let ranks = block.map(|t| t.rank());
    block.threads(|t| {
        if ranks.get(&t) > 5 {
            return;
        }
        block.sync();
    });
}

fn main() {}
