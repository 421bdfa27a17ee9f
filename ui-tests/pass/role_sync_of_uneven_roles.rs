//! The accepted neighbour of `fail/role_sync_of_uneven_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_warps(block: Block<128>) {
    let _ = block.partition::<WarpRoles<64, 64>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
