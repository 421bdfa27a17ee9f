//! Lanes past the 32nd quarter of a row would have no columns.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut2D, WarpRows, kernel};

#[kernel]
fn rows(block: Block<128>, mut out: TilesMut2D<u32, 4, 96, WarpRows<4>>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set_own(&t, |nth| nth as u32));
}

fn main() {}
