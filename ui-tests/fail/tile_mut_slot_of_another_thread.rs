//! On hardware two threads write one slot, and which value stays is chance.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_to_the_neighbour(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set((t.rank() + 1) % 128, 1));
}

fn main() {}
