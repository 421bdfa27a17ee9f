//! The accepted neighbour of `fail/order_of_rows_in_one_dimension.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles2D, WholeRows, kernel};

#[kernel]
fn rows(block: Block<128>, input: Tiles2D<i32, 1, 128>) {
    let rows = input.in_order::<WholeRows>(&block);
    let _ = rows.len();
}

fn main() {}
