//! On hardware the threads would write the caller's memory, on another machine.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: &mut [f32; 2]) {
    let _ = (block, factor);
}

fn main() {}
