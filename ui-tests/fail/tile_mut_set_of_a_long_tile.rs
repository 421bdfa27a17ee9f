//! On hardware half of the tile would stay as it was: `set` writes one element a thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_half(block: Block<128>, mut out: TilesMut<i32, 256>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, 1));
}

fn main() {}
