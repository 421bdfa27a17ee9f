//! The accepted neighbour of `fail/kernel_static_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn take_a_view(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = (block, input);
}

fn main() {}
