//! An instruction takes 16 elements along K: there is none for the last eight.
#![forbid(unsafe_code)]
use tilepipe::product::{Columns, Sums};
use tilepipe::role::WarpRoles;
use tilepipe::{Block, bf16, kernel};

#[kernel]
fn misuse(block: Block<256>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role((), |_, (), ()| {})
        .role((), |group, (), ()| {
            let sums: Sums<Columns<24>, 128> = group.sums(0.0);
            let _ = sums.into_factor::<bf16, _>(&group);
        })
        .run();
}

fn main() {}
