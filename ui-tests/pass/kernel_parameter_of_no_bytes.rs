//! The accepted neighbour of `fail/kernel_parameter_of_no_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: [f32; 1]) {
    let _ = (block, factor);
}

fn main() {}
