//! On hardware the caller's closure may be a barrier, or write what differs from thread to thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

fn run<F: Fn(usize)>(block: &Block<'_, 128>, step: F) {
    block.threads(|t| step(t.rank()));
}
#[kernel]
fn pass_a_closure(block: Block<128>) {
    run(&block, |rank| assert!(rank < 128));
}

fn main() {}
