//! The accepted neighbour of `fail/uniform_closure_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn wrap_twice(block: Block<128>) {
    let make = || || block.sync();
    if block.index() < 5 {
        make()();
    }
}

fn main() {}
