//! Kernels are written without `unsafe`: here it would make a second block, whose slots are the
//! first one's.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn make_a_block(block: Block<128>) {
    block.sync();
    unsafe { Block::<128>::assume_converged() }.sync();
}

fn main() {}
