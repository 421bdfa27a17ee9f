//! The accepted neighbour of `fail/role_captures_per_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn read_the_roles_values(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank());
            group.threads(|t| {
                let _ = ranks.get(&t);
            });
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
