//! The accepted neighbour of `fail/order_of_hoisted_bounds.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Consecutive, Striped, Tiles, TilesMut, hoist_bounds, kernel};

#[kernel]
fn hoist(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128, Striped, Consecutive>) {
    hoist_bounds((input.in_order::<Consecutive>(&block), out.for_block(&block)), |(tiles, mut results)| {
        let _ = (tiles.get(0), results.get_mut(0));
    });
}

fn main() {}
