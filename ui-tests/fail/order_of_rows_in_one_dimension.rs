//! Elements in a row have no rows of tiles.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, WholeRows, kernel};

#[kernel]
fn rows(block: Block<128>, input: Tiles<i32, 128>) {
    let rows = input.in_order::<WholeRows>(&block);
    let _ = rows.len();
}

fn main() {}
