//! On hardware the elements of a thread are THREADS apart in a striped tile: a run of them is its
//! neighbours'.
#![forbid(unsafe_code)]
use tilepipe::{Block, Striped, TilesMut, kernel};

#[kernel]
fn write_a_run(block: Block<128>, mut out: TilesMut<i32, 512, Striped>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_run(&t, 0, [1, 2, 3, 4]));
}

fn main() {}
