//! On hardware the counter has another value in each thread's copy: the threads disagree whether to
//! sync, and hang.
#![forbid(unsafe_code)]
use core::sync::atomic::{AtomicU32, Ordering};
use tilepipe::{Block, kernel};

#[kernel]
fn carry_out_by_atomic(block: Block<128>) {
    let count = AtomicU32::new(0);
    block.threads(|_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    if count.into_inner() == 1 {
        block.sync();
    }
}

fn main() {}
