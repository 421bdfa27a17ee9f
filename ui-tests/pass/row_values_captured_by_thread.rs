//! The accepted neighbour of `fail/row_values_captured_by_thread.rs`.
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
            let sums: Sums<Columns<64>, 128> = group.sums(1.0);
            let largest = sums.row_max(&group);
            let _ = size_of_val(&largest);
            group.threads(|_| {});
        })
        .run();
}

fn main() {}
