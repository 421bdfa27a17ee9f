//! The accepted neighbour of `fail/kernel_parameter_enum.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Element, kernel};

#[derive(Clone, Copy, Element)]
#[repr(transparent)]
struct By(u32);

#[kernel]
fn scale(block: Block<128>, by: By) {
    let _ = (block, by.0);
}

fn main() {}
