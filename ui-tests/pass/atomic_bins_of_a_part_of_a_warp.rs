//! The accepted neighbour of `fail/atomic_bins_of_a_part_of_a_warp.rs`.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::FirstThreads;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<32>, shared: Shared<Bins<u32, 8, Add>>) {
    let bins = shared.bins(&block);
    let _ = block
        .partition::<FirstThreads<8, 24>>()
        .role((), |group, (), ()| group.threads(|t| bins.add(&t, 0, 1)))
        .role((), |_, (), ()| {})
        .run();
}

fn main() {}
