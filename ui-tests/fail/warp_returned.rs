//! On hardware a warp's token outside its closure would let all warps sync as one warp: undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_warp(block: Block<128>) {
    let _ = block.map_warps(|warp| warp);
}

fn main() {}
