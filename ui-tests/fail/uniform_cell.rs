//! On hardware the cell has another value in each thread: the block's threads disagree whether to
//! sync, and hang.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::{Block, kernel};

#[kernel]
fn carry_out_by_cell(block: Block<128>) {
    let last = Cell::new(0);
    block.threads(|t| last.set(t.rank()));
    if last.get() == 0 {
        block.sync();
    }
}

fn main() {}
