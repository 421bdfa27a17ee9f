//! On hardware barriers would count arrivals of threads that the block does not have.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn count_too_many(block: Block<128>) {
    let _ = block.partition::<WarpRoles<64, 128>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
