//! The accepted neighbour of `fail/tile_mut_runs_that_do_not_divide.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Runs, TilesMut, kernel};

#[kernel]
fn write_runs(block: Block<128>, mut out: TilesMut<i32, 1024, Runs<4>>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_each(&t, |element| element as i32));
}

fn main() {}
