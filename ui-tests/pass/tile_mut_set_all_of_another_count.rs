//! The accepted neighbour of `fail/tile_mut_set_all_of_another_count.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Blocked, TilesMut, kernel};

#[kernel]
fn write_two(block: Block<128>, mut out: TilesMut<i32, 256, Blocked>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_all(&t, [1, 2]));
}

fn main() {}
