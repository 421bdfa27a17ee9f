//! On hardware one block's rank in another block's tile is a slot that two threads own.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut};

fn write_with_a_strange_token<'a, 'b>(a: Block<'a, 128>, b: Block<'b, 128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&b);
    let result = results.get_mut(0);
    a.threads(|t| result.set(&t, 1));
}

fn main() {}
