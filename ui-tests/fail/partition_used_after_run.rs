//! On hardware the second run would use memory and values that the first one took.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn run_twice(block: Block<128>) {
    let roles = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {});
    let _ = roles.run();
    let _ = roles.run();
}

fn main() {}
