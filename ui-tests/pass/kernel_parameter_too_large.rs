//! The accepted neighbour of `fail/kernel_parameter_too_large.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = (block, weights[8]);
}

fn main() {}
