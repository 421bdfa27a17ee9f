//! The accepted neighbour of `fail/role_pair_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_an_array(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| [1_u32, 2]).role((), |_, _, ()| {}).run();
}

fn main() {}
