//! The accepted neighbour of `fail/ready_parked_in_thread_local.rs`.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

thread_local! {
    static PARKED: Cell<Option<i32>> = const { Cell::new(None) };
}
#[kernel]
fn park_an_element(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    PARKED.set(Some(tile[0]));
}

fn main() {}
