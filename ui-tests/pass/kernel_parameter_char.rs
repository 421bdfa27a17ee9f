//! The accepted neighbour of `fail/kernel_parameter_char.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: u32) {
    let _ = (block, factor);
}

fn main() {}
