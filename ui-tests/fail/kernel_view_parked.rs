//! A tile that is parked in a thread-local and copied in a later launch is read after its buffer
//! was freed.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, TileRef, Tiles, kernel};

thread_local! {
    static PARKED: Cell<Option<TileRef<'static, [i32; 128]>>> = const { Cell::new(None) };
}
#[kernel]
fn park_a_tile(block: Block<128>, input: Tiles<i32, 128>) {
    let tiles = input.for_block(&block);
    PARKED.set(Some(tiles.get(0)));
}

fn main() {}
