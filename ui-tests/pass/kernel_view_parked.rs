//! The accepted neighbour of `fail/kernel_view_parked.rs`.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, TileRef, Tiles, kernel};

thread_local! {
    static PARKED: Cell<Option<TileRef<'static, [i32; 128]>>> = const { Cell::new(None) };
}
#[kernel]
fn park_nothing(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = input.for_block(&block);
    PARKED.set(None);
}

fn main() {}
