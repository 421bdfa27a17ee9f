//! On hardware 32 threads would have no role, and the block would wait for them for ever.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn forget_a_warp(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
