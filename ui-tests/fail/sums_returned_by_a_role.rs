//! On hardware another role's threads would have other values in these registers.
#![forbid(unsafe_code)]
use tilepipe::product::{Columns, Sums};
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<256>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role((), |_, (), ()| {})
        .role((), |group, (), ()| {
            let sums: Sums<Columns<64>, 128> = group.sums(0.0);
            sums
        })
        .run();
}

fn main() {}
