//! The accepted neighbour of `fail/role_reference_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_value(block: Block<128>) {
    let one = 1_u32;
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| one).role((), |_, _, ()| {}).run();
}

fn main() {}
