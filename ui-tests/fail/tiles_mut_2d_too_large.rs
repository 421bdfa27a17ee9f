//! The number of a far element would wrap around to that of another thread, and both would write
//! it: a data race.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut2D, kernel};

#[kernel]
fn far(block: Block<1000>, view: TilesMut2D<u8, { (1 << 32) - 1 }, { (1 << 32) + 1 }>) {
    let _ = (block, view);
}

fn main() {
    println!("{}", far::INSTANCES[0].name());
}
