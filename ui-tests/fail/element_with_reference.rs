//! On hardware a reference into the host's memory is no address, and any bit pattern would have to
//! be one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn copy_references(block: Block<128>, input: Tiles<&'static i32, 128>) {
    let _ = (block, input);
}

fn main() {}
