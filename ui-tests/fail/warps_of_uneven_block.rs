//! On hardware the last warp of this block has 4 lanes, and a collective of 32 waits for the
//! other 28.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn count_warps(block: Block<100>) {
    block.warps(|warp| warp.sync());
}

fn main() {}
