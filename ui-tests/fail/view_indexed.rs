//! A view checks its index and says what happens past its end: `at` and `get`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Input, TilesMut, kernel};

#[kernel]
pub fn firsts(block: Block<128>, input: Input<u32>, mut out: TilesMut<u32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, input[t.rank()]));
}

fn main() {}
