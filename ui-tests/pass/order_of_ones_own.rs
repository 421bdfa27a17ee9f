//! The accepted neighbour of `fail/order_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Consecutive, Tiles, kernel};

#[kernel]
fn reversed(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = input.in_order::<Consecutive>(&block).len();
}

fn main() {}
