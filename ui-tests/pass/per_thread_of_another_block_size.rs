//! The accepted neighbour of `fail/per_thread_of_another_block_size.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, PerThread};

fn sum<'b>(block: &Block<'b, 128>, values: &PerThread<'b, u32, 128>) -> u32 {
    block.reduce(values, |a, b| a + b)
}

fn main() {}
