//! On hardware a thread that writes more elements than it owns writes into its neighbour's.
#![forbid(unsafe_code)]
use tilepipe::{Block, Blocked, TilesMut, kernel};

#[kernel]
fn write_four(block: Block<128>, mut out: TilesMut<i32, 256, Blocked>) {
    let mut results = out.for_block(&block);
    let result = results.get_mut(0);
    block.threads(|t| result.set_all(&t, [1, 2, 3, 4]));
}

fn main() {}
