//! On hardware two values for one tile, each thought to be the only way to write it.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, hoist_bounds, kernel};

#[kernel]
fn hoist_an_output_twice(block: Block<128>, mut out: TilesMut<i32, 128>) {
    hoist_bounds((out.for_block(&block), out.for_block(&block)), |(mut some, mut more)| {
        let (a, b) = (some.get_mut(0), more.get_mut(0));
        block.threads(|t| {
            a.set(&t, 1);
            b.set(&t, 2);
        });
    });
}

fn main() {}
