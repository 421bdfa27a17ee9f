//! On hardware `wgmma` of fewer than four warps is undefined.
#![forbid(unsafe_code)]
use tilepipe::product::{Columns, Sums};
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<192>) {
    let _ = block
        .partition::<WarpRoles<128, 64>>()
        .role((), |_, (), ()| {})
        .role((), |group, (), ()| {
            let _sums: Sums<Columns<64>, 64> = group.sums(0.0);
        })
        .run();
}

fn main() {}
