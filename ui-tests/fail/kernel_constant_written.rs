//! On hardware parameters cannot be written, and every thread of the launch reads them.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = block;
    weights[0] = 1.0;
}

fn main() {}
