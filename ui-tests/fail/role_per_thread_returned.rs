//! On hardware each thread has its own value, and block-level code would branch on it around a
//! barrier.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_values(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| group.map(|t| t.rank() as u32))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
