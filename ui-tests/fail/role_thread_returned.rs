//! On hardware a thread that keeps its token could branch on its rank between two barriers.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_the_token(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            let _ = group.map(|t| t);
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
