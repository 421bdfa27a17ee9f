//! A thread's own rank is below the block's size, and what indexes a smaller table is checked.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn in_bounds(block: Block<64>, factor: u32, mut out: TilesMut<u32, 64>) {
    let table: [u32; 7] = core::array::from_fn(|i| factor.wrapping_mul(i as u32));
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, table[t.rank() % 7]));
}

fn main() {}
