//! The accepted neighbour of `fail/roles_of_31_threads.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_32(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
