//! The accepted neighbour of `fail/role_group_captured_by_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_all_threads(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            group.threads(|_| {});
            group.sync();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
