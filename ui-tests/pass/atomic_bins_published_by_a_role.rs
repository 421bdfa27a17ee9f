//! The accepted neighbour of `fail/atomic_bins_published_by_a_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::WarpRoles;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role(shared, |group, (), memory| drop(memory.bins(&group).publish(&group)))
        .role((), |_, (), ()| {})
        .run();
}

fn main() {}
