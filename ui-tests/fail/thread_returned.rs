//! On hardware a thread that keeps its token after the closure could branch on its rank between two
//! collectives.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_token(block: Block<128>) {
    let _ = block.map(|t| t);
}

fn main() {}
