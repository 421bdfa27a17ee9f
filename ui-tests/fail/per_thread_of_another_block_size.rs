//! On hardware half of the values belong to threads that this block does not have.
#![forbid(unsafe_code)]
use tilepipe::{Block, PerThread};

fn sum<'b>(block: &Block<'b, 128>, values: &PerThread<'b, u32, 256>) -> u32 {
    block.reduce(values, |a, b| a + b)
}

fn main() {}
