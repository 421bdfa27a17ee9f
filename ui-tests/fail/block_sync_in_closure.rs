//! On hardware a barrier that only some threads reach hangs the block, or pairs up with another
//! barrier.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some(block: Block<128>) {
    block.threads(|t| {
        if t.rank() < 32 {
            block.sync();
        }
    });
}

fn main() {}
