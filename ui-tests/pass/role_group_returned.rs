//! The accepted neighbour of `fail/role_group_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_its_size(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| group.size() as u32)
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
