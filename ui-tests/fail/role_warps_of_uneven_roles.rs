//! On hardware a warp's collectives wait for lanes that are in the other role.
#![forbid(unsafe_code)]
use tilepipe::role::FirstThreads;
use tilepipe::{Block, kernel};

#[kernel]
fn halves_of_warps(block: Block<128>) {
    let _ = block
        .partition::<FirstThreads<64, 64>>()
        .role((), |group, _, ()| group.warps(|warp| warp.sync()))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
