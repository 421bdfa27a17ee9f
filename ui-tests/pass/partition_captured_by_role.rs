//! The accepted neighbour of `fail/partition_captured_by_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn run_behind(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
    let _ = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
