//! The accepted neighbour of `fail/tile_mut_set_run_of_striped_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Runs, TilesMut, kernel};

#[kernel]
fn write_a_run(block: Block<128>, mut out: TilesMut<i32, 512, Runs<4>>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_run(&t, 0, [1, 2, 3, 4]));
}

fn main() {}
