//! The accepted neighbour of `fail/uniform_future.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn drop_a_future(block: Block<128>) {
    let future = async {
        block.sync();
    };
    drop(future);
}

fn main() {}
