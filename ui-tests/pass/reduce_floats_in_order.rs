//! The accepted neighbour of `fail/reduce_floats_in_order.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{Block, Extents2, Swizzle128, TileReduction, kernel};

#[kernel]
fn combine(block: Block<64>, out: TileReduction<f32, Unordered<Add>, Extents2<8, 32>, Swizzle128>) {
    let _ = (block, out);
}

fn main() {}
