//! The place of a far element would wrap around to that of another: a copy from the wrong address.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn far(block: Block<1000>, view: Tiles<u8, { 1 << 32 }>) {
    let _ = (block, view);
}

fn main() {
    println!("{}", far::INSTANCES[0].name());
}
