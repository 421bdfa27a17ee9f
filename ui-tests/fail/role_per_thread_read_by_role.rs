//! On hardware each thread has its own value, and some would take a step that others skip.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn branch_on_a_value(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let even = group.map(|t| t.rank() % 2 == 0);
            if even {
                group.sync();
            }
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
