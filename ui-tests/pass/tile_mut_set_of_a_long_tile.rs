//! The accepted neighbour of `fail/tile_mut_set_of_a_long_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_all(block: Block<128>, mut out: TilesMut<i32, 256>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_each(&t, |_| 1));
}

fn main() {}
