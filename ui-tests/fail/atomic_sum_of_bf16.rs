//! On hardware GPUs before sm_90 have no such instruction; sums of `bf16` are `f32`.
#![forbid(unsafe_code)]
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{Block, Reduction, bf16, kernel};

#[kernel]
fn sums(block: Block<64>, out: Reduction<bf16, Unordered<Add>>) {
    let _ = (block, out);
}

fn main() {}
