//! The accepted neighbour of `fail/sums_in_half_a_warpgroup.rs`.
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
            let _sums: Sums<Columns<64>, 128> = group.sums(0.0);
        })
        .run();
}

fn main() {}
