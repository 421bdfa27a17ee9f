//! The accepted neighbour of `fail/role_handed_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn hand_over_nothing(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
