//! An alias with a lifetime of its own is fine.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

type Signal<'k> = Tiles<'k, i32, 128>;

#[kernel]
fn take_a_view(block: Block<128>, input: Signal<'_>) {
    let _ = (block, input.len());
}

fn main() {}
