//! The accepted neighbour of `fail/kernel_reference_parameter.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn take_a_value(block: Block<128>, scale: f32) {
    let _ = (block, scale);
}

fn main() {}
