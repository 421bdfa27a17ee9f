//! A tile that counts its elements in 32 bits.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut2D, kernel};

#[kernel]
fn near(block: Block<1000>, view: TilesMut2D<u8, 256, 256>) {
    let _ = (block, view);
}

fn main() {
    assert_eq!(near::INSTANCES[0].name(), "near");
}
