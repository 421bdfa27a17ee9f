//! The accepted neighbour of `fail/roles_short_of_the_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn count_all(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
