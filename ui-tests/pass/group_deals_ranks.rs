//! What the block's code branches on is a collective's result.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn agree(block: Block<64>) {
    let low = block.map(|t| t.rank() < 32);
    if block.any(&low) {
        block.sync();
    }
}

fn main() {}
