//! On hardware every thread would run the called kernel as if it were the block.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync(block: Block<128>) {
    block.sync();
}
#[kernel]
fn call_in_each_thread(block: Block<128>) {
    block.threads(|_| sync(block));
}

fn main() {}
