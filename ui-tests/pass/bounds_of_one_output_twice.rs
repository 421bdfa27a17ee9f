//! The accepted neighbour of `fail/bounds_of_one_output_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, hoist_bounds, kernel};

#[kernel]
fn hoist_an_output(block: Block<128>, mut out: TilesMut<i32, 128>) {
    hoist_bounds(out.for_block(&block), |mut results| {
        let [a, b] = results.get_disjoint_mut([0, 1]);
        block.threads(|t| {
            a.set(&t, 1);
            b.set(&t, 2);
        });
    });
}

fn main() {}
