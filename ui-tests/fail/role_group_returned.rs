//! On hardware block-level code would wait at the barrier of one role.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_group(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |group, _, ()| group).role((), |_, _, ()| {}).run();
}

fn main() {}
