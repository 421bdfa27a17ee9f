//! The accepted neighbour of `fail/tiles_mut_shared_out_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn share_out_once(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let [a, b] = results.get_disjoint_mut([0, 1]);
    block.threads(|t| {
        a.set(&t, 1);
        b.set(&t, 2);
    });
}

fn main() {}
