//! On hardware most bits of a word would be no `char`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: char) {
    let _ = (block, factor);
}

fn main() {}
