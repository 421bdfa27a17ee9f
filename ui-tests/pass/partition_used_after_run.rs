//! The accepted neighbour of `fail/partition_used_after_run.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn run_once(block: Block<128>) {
    let roles = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {});
    let _ = roles.run();
}

fn main() {}
