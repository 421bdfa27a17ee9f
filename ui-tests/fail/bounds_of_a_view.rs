//! A view has no tiles of a block yet: nothing says which ones the loop will ask for.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, hoist_bounds, kernel};

#[kernel]
fn hoist_of_a_view(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>) {
    hoist_bounds((input, out.for_block(&block)), |(input, mut results)| {
        let _ = (input.tile(0), results.get_mut(0));
    });
}

fn main() {}
