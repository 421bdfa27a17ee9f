//! On hardware the elements of a thread are THREADS apart in a striped tile: a row of them is its
//! neighbours'.
#![forbid(unsafe_code)]
use tilepipe::{Block, Striped, TilesMut, kernel};

#[kernel]
fn write_a_row(block: Block<128>, mut out: TilesMut<i32, 256, Striped>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_all(&t, [1, 2]));
}

fn main() {}
