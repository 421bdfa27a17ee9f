//! The accepted neighbour of `fail/uniform_cell.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_in_each_thread(block: Block<128>) {
    let mut last = block.map(|_| 0);
    block.update(&mut last, |t, value| *value = t.rank());
    block.sync();
}

fn main() {}
