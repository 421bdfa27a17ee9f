//! The accepted neighbour of `fail/kernel_constant_parked.rs`.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, Constant, kernel};

thread_local! {
    static PARKED: Cell<Option<[f32; 9]>> = const { Cell::new(None) };
}
#[kernel]
fn park_a_copy(block: Block<128>, filter: Constant<[f32; 9]>) {
    let _ = block;
    PARKED.set(Some(*filter));
}

fn main() {}
