//! On hardware the elements past the last whole round of runs would be nobody's, never written.
#![forbid(unsafe_code)]
use tilepipe::{Block, Runs, TilesMut, kernel};

#[kernel]
fn write_runs(block: Block<128>, mut out: TilesMut<i32, 640, Runs<4>>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_each(&t, |element| element as i32));
}

fn main() {}
