//! The accepted neighbour of `fail/uniform_function_pointer.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

fn step(block: &Block<'_, 128>) {
    block.sync();
}
#[kernel]
fn call_by_pointer(block: Block<128>) {
    let pointer: fn(&Block<'_, 128>) = step;
    if block.index() < 5 {
        pointer(&block);
    }
}

fn main() {}
