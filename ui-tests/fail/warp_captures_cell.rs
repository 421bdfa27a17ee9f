//! On hardware one warp writes what another one reads: a race, and then the warps disagree.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, kernel};

#[kernel]
fn count_warps(block: Block<128>) {
    let count = Cell::new(0_u32);
    block.warps(|_warp| count.set(count.get() + 1));
    if count.get() > 2 {
        block.sync();
    }
}

fn main() {}
