//! The accepted neighbour of `fail/role_now_of_uneven_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn ask_warps(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let _ = group.now();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
