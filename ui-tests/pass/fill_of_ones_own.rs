//! The accepted neighbour of `fail/fill_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Zeros, kernel};

#[kernel]
fn fill_with_zeros(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit();
}

fn main() {}
