//! On hardware `bar.warp.sync` in a thread's code waits for lanes that take another path.
#![forbid(unsafe_code)]
use tilepipe::{Block, Warp};

fn sync_in_a_thread<'b>(block: &Block<'b, 128>, warp: &Warp<'_, 'b, 128>) {
    block.threads(|t| {
        if t.rank() % 32 < 16 {
            warp.sync();
        }
    });
}

fn main() {}
