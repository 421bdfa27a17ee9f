//! The accepted neighbour of `fail/role_warps_of_uneven_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn whole_warps(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| group.warps(|warp| warp.sync()))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
