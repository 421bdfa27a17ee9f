//! On hardware two values for one output tile let two closures write it in an order that nobody
//! fixed.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_two(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let first = results.get_mut(0);
    let second = results.get_mut(1);
    block.threads(|t| {
        first.set(&t, 1);
        second.set(&t, 2);
    });
}

fn main() {}
