//! The accepted neighbour of `fail/role_per_thread_read_by_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_all_values(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let even = group.map(|t| t.rank() % 2 == 0);
            if group.any(&even) {
                group.sync();
            }
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
