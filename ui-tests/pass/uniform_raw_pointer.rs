//! The accepted neighbour of `fail/uniform_raw_pointer.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn look_through_a_reference(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let value = 7_i32;
    let reference = &value;
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, *reference));
}

fn main() {}
