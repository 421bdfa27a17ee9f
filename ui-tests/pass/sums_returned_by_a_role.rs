//! The accepted neighbour of `fail/sums_returned_by_a_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::{Columns, Sums};
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn neighbour(block: Block<256>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role((), |_, (), ()| {})
        .role((), |group, (), ()| {
            let sums: Sums<Columns<64>, 128> = group.sums(0.0);
            let _ = sums;
        })
        .run();
}

fn main() {}
