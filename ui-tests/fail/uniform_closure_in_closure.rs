//! On hardware the inner closure is a barrier that some threads never reach.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn wrap_twice(block: Block<128>) {
    let make = || || block.sync();
    block.threads(|t| {
        if t.rank() < 5 {
            make()();
        }
    });
}

fn main() {}
