//! The accepted neighbour of `fail/partition_nested.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles3;
use tilepipe::{Block, kernel};

#[kernel]
fn divide_further(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles3<32, 32, 64>>()
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
