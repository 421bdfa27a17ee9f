//! On hardware the other role is still adding: the role's barrier does not wait for it.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::WarpRoles;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |group, (), ()| drop(bins.publish(&group)))
        .role((), |_, (), ()| {})
        .run();
}

fn main() {}
