//! On hardware these registers are another block's: no instruction reads them.
#![forbid(unsafe_code)]
use tilepipe::{Block, PerThread};

fn sum<'a, 'b>(block: &Block<'b, 128>, values: &PerThread<'a, u32, 128>) -> u32 {
    block.reduce(values, |a, b| a + b)
}

fn main() {}
