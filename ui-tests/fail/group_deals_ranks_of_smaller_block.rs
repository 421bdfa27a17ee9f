//! On hardware the rank of a thread of the 64 is taken for one below 7, and the table is read out
//! of bounds.
#![forbid(unsafe_code)]
use tilepipe::group::{Deal, InBlock};
use tilepipe::{Block, BlockScope, TilesMut, kernel};

#[kernel]
fn out_of_bounds(block: Block<64>, factor: u32, out: TilesMut<u32, 64>) {
    let _ = (block, out);
    let table: [u32; 7] = core::array::from_fn(|i| factor.wrapping_mul(i as u32));
    <InBlock<'_, 7> as Deal<BlockScope>>::deal(|_, member| drop(table[member]));
}

fn main() {}
