//! On hardware one role would give the bins' memory away while the other one adds to it.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::WarpRoles;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<64>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |_, (), ()| drop(bins))
        .role((), |group, (), ()| group.threads(|t| bins.add(&t, 0, 1)))
        .run();
}

fn main() {}
