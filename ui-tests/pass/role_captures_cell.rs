//! The accepted neighbour of `fail/role_captures_cell.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_a_value(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| 1_u32).role((), |_, _, ()| {}).run();
}

fn main() {}
