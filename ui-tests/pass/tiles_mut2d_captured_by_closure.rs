//! The accepted neighbour of `fail/tiles_mut2d_captured_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut2D, kernel};

#[kernel]
fn pick_a_tile_in_the_block(block: Block<128>, mut out: TilesMut2D<f32, 8, 16>) {
    let mut results = out.for_block(&block);
    for index in 0..results.len() {
        let result = results.get_mut(index);
        block.threads(|t| result.set_nth(&t, 0, 1.0));
    }
}

fn main() {}
