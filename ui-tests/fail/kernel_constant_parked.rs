//! A constant that is parked in a thread-local is read after the launch whose parameters it lay in.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::{Block, Constant, kernel};

thread_local! {
    static PARKED: Cell<Option<Constant<'static, [f32; 9]>>> = const { Cell::new(None) };
}
#[kernel]
fn park_a_filter(block: Block<128>, filter: Constant<[f32; 9]>) {
    let _ = block;
    PARKED.set(Some(filter));
}

fn main() {}
