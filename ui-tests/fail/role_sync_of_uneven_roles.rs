//! On hardware the barrier counts whole warps, and half of each is in the other role.
#![forbid(unsafe_code)]
use tilepipe::role::EvenOdd;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_halves(block: Block<128>) {
    let _ = block.partition::<EvenOdd<64>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
