//! The accepted neighbour of `fail/role_reduce_of_uneven_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_warps(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.reduce(&ranks, u32::max)
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
