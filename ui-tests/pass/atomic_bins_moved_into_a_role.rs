//! The accepted neighbour of `fail/atomic_bins_moved_into_a_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::WarpRoles;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |group, (), ()| group.threads(|t| bins.add(&t, 1, 1)))
        .role((), |group, (), ()| group.threads(|t| bins.add(&t, 0, 1)))
        .run();
    let _ = bins.publish(&block);
}

fn main() {}
