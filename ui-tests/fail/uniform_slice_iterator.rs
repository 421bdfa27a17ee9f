//! On hardware the cells behind the iterator are a way to share what differs from thread to thread.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, kernel};

#[kernel]
fn iterate_over_cells(block: Block<128>) {
    let cells = [Cell::new(1), Cell::new(2)];
    let each = cells.iter();
    block.threads(|_| each.clone().for_each(|cell| cell.set(3)));
}

fn main() {}
