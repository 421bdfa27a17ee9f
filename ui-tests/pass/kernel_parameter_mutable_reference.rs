//! The accepted neighbour of `fail/kernel_parameter_mutable_reference.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: [f32; 2]) {
    let _ = (block, factor);
}

fn main() {}
