//! The accepted neighbour of `fail/roles_empty.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn a_warp_produces(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
