//! The accepted neighbour of `fail/uniform_object_with_bound.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn make_an_object(block: Block<128>) {
    let block_size = block.grid();
    let step = || assert!(block_size > 0);
    let object: &(dyn Fn() + tilepipe::Uniform) = &step;
    block.threads(|_| object());
}

fn main() {}
