//! The accepted neighbour of `fail/atomic_floats_in_order.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{Block, Reduction, kernel};

#[kernel]
fn combine(block: Block<64>, out: Reduction<f32, Unordered<Add>>) {
    let _ = (block, out);
}

fn main() {}
