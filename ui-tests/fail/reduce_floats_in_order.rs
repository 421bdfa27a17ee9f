//! On hardware the order of blocks decides how a sum is rounded.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Block, Extents2, Swizzle128, TileReduction, kernel};

#[kernel]
fn combine(block: Block<64>, out: TileReduction<f32, Add, Extents2<8, 32>, Swizzle128>) {
    let _ = (block, out);
}

fn main() {}
