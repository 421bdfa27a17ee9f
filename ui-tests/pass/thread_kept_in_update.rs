//! The accepted neighbour of `fail/thread_kept_in_update.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_rank(block: Block<128>) {
    let mut kept = block.map(|_| None);
    block.update(&mut kept, |t, slot| *slot = Some(t.rank()));
}

fn main() {}
