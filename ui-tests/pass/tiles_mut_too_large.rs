//! A tile that counts its elements in 32 bits.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn near(block: Block<1000>, view: TilesMut<u8, 65536>) {
    let _ = (block, view);
}

fn main() {
    assert_eq!(near::INSTANCES[0].name(), "near");
}
