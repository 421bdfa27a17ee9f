//! An order of one's own could deal a tile to two blocks.
#![forbid(unsafe_code)]
use tilepipe::{Block, Order, Tiles, kernel};

enum Reversed {}
impl Order for Reversed {}

#[kernel]
fn reversed(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = input.in_order::<Reversed>(&block).len();
}

fn main() {}
