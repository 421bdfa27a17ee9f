//! On hardware a run of more elements than the arrangement has ends in those of the next thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, Runs, TilesMut, kernel};

#[kernel]
fn write_eight(block: Block<128>, mut out: TilesMut<i32, 1024, Runs<4>>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_run(&t, 0, [1; 8]));
}

fn main() {}
