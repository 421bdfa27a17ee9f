//! On hardware each thread writes its own copy of the variable: the threads disagree on a loop's
//! length, and hang.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn carry_out_by_reference(block: Block<128>) {
    let mut rounds = 0;
    block.threads(|t| rounds = t.rank());
    for _ in 0..rounds {
        block.sync();
    }
}

fn main() {}
