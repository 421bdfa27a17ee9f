//! On hardware the order in which threads come decides how a sum is rounded.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Block, Reduction, kernel};

#[kernel]
fn combine(block: Block<64>, out: Reduction<f32, Add>) {
    let _ = (block, out);
}

fn main() {}
