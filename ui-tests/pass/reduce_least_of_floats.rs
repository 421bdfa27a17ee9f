//! The accepted neighbour of `fail/reduce_least_of_floats.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Min;
use tilepipe::{Block, Extents2, Swizzle128, TileReduction, kernel};

#[kernel]
fn combine(block: Block<64>, out: TileReduction<i32, Min, Extents2<8, 32>, Swizzle128>) {
    let _ = (block, out);
}

fn main() {}
