//! The accepted neighbour of `fail/block_sync_after_early_return.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn return_early(block: Block<128>) {
    let ranks = block.map(|t| t.rank());
    block.threads(|t| {
        if ranks.get(&t) > 5 {
            return;
        }
        let _ = t.rank();
    });
    block.sync();
}

fn main() {}
