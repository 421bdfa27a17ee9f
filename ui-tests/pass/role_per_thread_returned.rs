//! The accepted neighbour of `fail/role_per_thread_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn combine_the_values(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.reduce(&ranks, u32::max)
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
