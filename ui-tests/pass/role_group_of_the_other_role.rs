//! The accepted neighbour of `fail/role_group_of_the_other_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_ones_own(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| group.sync())
        .role((), |group, _, ()| group.sync())
        .run();
}

fn main() {}
