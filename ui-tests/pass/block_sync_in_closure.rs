//! The accepted neighbour of `fail/block_sync_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_all(block: Block<128>) {
    block.threads(|_| {});
    block.sync();
    block.threads(|_| {});
}

fn main() {}
