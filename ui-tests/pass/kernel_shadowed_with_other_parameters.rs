//! What a crate re-exports of tilepipe, as it is, may stand behind the paths of the generated code.
#![forbid(unsafe_code)]
extern crate self as tilepipe;
extern crate tilepipe as real;
pub use real::{Block, TilesMut, entry, launch};

#[real::kernel]
pub fn write(block: Block<32>, out: TilesMut<u32, 32>) {
    let _ = (block, out);
}

fn main() {
    assert_eq!(write::INSTANCES[0].parameters().len(), 1);
}
