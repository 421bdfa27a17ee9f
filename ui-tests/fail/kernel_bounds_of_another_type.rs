//! A bound that is computed is a `usize`, as the block size is.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

const REGISTERS: u32 = 64;

#[kernel(max_registers = REGISTERS)]
fn bounded(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
