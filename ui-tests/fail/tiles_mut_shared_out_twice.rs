//! On hardware two views of a block's tiles let two values for one tile be written at a time.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn share_out_twice(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut some = out.for_block(&block);
    let mut more = out.for_block(&block);
    let (a, b) = (some.get_mut(0), more.get_mut(0));
    block.threads(|t| {
        a.set(&t, 1);
        b.set(&t, 2);
    });
}

fn main() {}
