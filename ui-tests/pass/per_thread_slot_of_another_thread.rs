//! The accepted neighbour of `fail/per_thread_slot_of_another_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn read_ones_own(block: Block<128>) {
    let values = block.map(|t| t.rank() as u32);
    let _ = block.map(|t| values.get(&t));
}

fn main() {}
