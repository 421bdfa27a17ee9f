//! The place of a far element would wrap around to that of another: a copy from the wrong address.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles2D, kernel};

#[kernel]
fn far(block: Block<1000>, view: Tiles2D<u8, { 1 << 16 }, { 1 << 16 }>) {
    let _ = (block, view);
}

fn main() {
    println!("{}", far::INSTANCES[0].name());
}
