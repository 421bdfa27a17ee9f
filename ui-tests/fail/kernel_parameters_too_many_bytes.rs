//! On hardware a launch carries no more, and the driver would refuse the kernel.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};

#[kernel]
fn filter(block: Block<128>, factor: u8, weights: Constant<[f32; 1024]>) {
    let _ = (block, factor, weights[8]);
}

fn main() {}
