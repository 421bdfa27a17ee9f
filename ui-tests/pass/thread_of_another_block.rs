//! The accepted neighbour of `fail/thread_of_another_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut};

fn write_with_its_own_token<'b>(b: Block<'b, 128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&b);
    let result = results.get_mut(0);
    b.threads(|t| result.set(&t, 1));
}

fn main() {}
