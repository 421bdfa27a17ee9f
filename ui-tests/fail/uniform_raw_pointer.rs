//! On hardware a pointer leads to memory of which no type says who writes it, and its address
//! differs from thread to thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn look_through_a_pointer(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let value = 7_i32;
    let pointer = &raw const value;
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, pointer.is_null().into()));
}

fn main() {}
