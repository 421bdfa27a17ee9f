//! The accepted neighbour of `fail/atomic_sum_of_bf16.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{Block, Reduction, f16, kernel};

#[kernel]
fn sums(block: Block<64>, out: Reduction<f16, Unordered<Add>>) {
    let _ = (block, out);
}

fn main() {}
