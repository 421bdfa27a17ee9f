//! A thread has the numbers of its own two rows alone.
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
            let sums: Sums<Columns<64>, 128> = group.sums(1.0);
            let largest = sums.row_max(&group);
            group.threads(|_| {
                let _ = size_of_val(&largest);
            });
        })
        .run();
}

fn main() {}
