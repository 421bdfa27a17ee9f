//! The accepted neighbour of `fail/block_tiles_mut_two_at_a_time.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_two(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let [first, second] = results.get_disjoint_mut([0, 1]);
    block.threads(|t| {
        first.set(&t, 1);
        second.set(&t, 2);
    });
}

fn main() {}
