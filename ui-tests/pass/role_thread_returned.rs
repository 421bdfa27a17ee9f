//! The accepted neighbour of `fail/role_thread_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_rank(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let _ = group.map(|t| t.rank());
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
