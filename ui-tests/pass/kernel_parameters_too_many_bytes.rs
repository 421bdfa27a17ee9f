//! The accepted neighbour of `fail/kernel_parameters_too_many_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};

#[kernel]
fn filter(block: Block<128>, factor: u8, weights: Constant<[f32; 1023]>) {
    let _ = (block, factor, weights[8]);
}

fn main() {}
