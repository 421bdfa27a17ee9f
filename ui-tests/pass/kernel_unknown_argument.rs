//! The accepted neighbour of `fail/kernel_unknown_argument.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(max_registers = 64)]
fn bounded(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
