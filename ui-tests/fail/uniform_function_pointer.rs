//! On hardware the function behind the pointer is a barrier that some threads never reach.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

fn step(block: &Block<'_, 128>) {
    block.sync();
}
#[kernel]
fn call_by_pointer(block: Block<128>) {
    let pointer: fn(&Block<'_, 128>) = step;
    block.threads(|t| {
        if t.rank() < 5 {
            pointer(&block);
        }
    });
}

fn main() {}
