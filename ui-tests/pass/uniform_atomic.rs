//! The accepted neighbour of `fail/uniform_atomic.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn count_in_each_thread(block: Block<128>) {
    let mut count = block.map(|_| 0_u32);
    block.update(&mut count, |_, value| *value += 1);
    block.sync();
}

fn main() {}
