//! The number of a far element would wrap around to that of another thread, and both would write
//! it: a data race.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn far(block: Block<1000>, view: TilesMut<u8, { usize::MAX }>) {
    let _ = (block, view);
}

fn main() {
    println!("{}", far::INSTANCES[0].name());
}
