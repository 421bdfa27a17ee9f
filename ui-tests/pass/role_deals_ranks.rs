//! Ranks of a role exist in the closures of its own threads.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn by_roles(block: Block<64>) {
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |_, (), ()| ())
        .role((), |group, (), ()| group.threads(|t| assert!(t.rank() < 32)))
        .run();
}

fn main() {}
