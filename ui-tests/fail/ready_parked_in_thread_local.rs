//! On hardware the next kernel on this processor has other data in that memory.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

thread_local! {
    static PARKED: Cell<Option<&'static [i32; 128]>> = const { Cell::new(None) };
}
#[kernel]
fn park_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    PARKED.set(Some(&*tile));
}

fn main() {}
