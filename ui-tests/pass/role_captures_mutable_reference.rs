//! The accepted neighbour of `fail/role_captures_mutable_reference.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_sum(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| 1_u32).role((), |_, _, ()| {}).run();
}

fn main() {}
