//! The accepted neighbour of `fail/warp_captured_by_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Warp};

fn sync_in_the_warp<'b>(block: &Block<'b, 128>, warp: &Warp<'_, 'b, 128>) {
    block.threads(|t| {
        let _ = t.rank() % 32 < 16;
    });
    warp.sync();
}

fn main() {}
