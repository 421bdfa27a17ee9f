//! The accepted neighbour of `fail/bounds_of_a_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, hoist_bounds, kernel};

#[kernel]
fn hoist_of_shares(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| {
        let _ = (tiles.get(0), results.get_mut(0));
    });
}

fn main() {}
