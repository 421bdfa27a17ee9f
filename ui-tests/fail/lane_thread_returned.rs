//! On hardware a token that outlives its closure is one thread's rank in another thread's hands: a
//! race.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_thread(block: Block<128>) {
    block.warps(|warp| {
        let _ = warp.map(|lane| lane.thread());
    });
}

fn main() {}
