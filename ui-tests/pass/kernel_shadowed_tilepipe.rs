//! The crate under another name: the generated code finds it under its own.
#![forbid(unsafe_code)]
extern crate tilepipe as real;
use real::{Block, TilesMut};

#[real::kernel]
pub fn write(block: Block<32>, out: TilesMut<u32, 32>) {
    let _ = (block, out);
}

fn main() {
    assert_eq!(write::INSTANCES[0].parameters().len(), 1);
}
