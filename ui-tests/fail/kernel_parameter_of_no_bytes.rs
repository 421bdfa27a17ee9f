//! On hardware there would be a parameter that lies nowhere.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn scale(block: Block<128>, factor: [f32; 0]) {
    let _ = (block, factor);
}

fn main() {}
