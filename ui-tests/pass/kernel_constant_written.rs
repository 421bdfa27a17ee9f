//! The accepted neighbour of `fail/kernel_constant_written.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = block;
    let mut own = *weights;
    own[0] = 1.0;
    let _ = own;
}

fn main() {}
