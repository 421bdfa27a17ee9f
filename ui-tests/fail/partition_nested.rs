//! On hardware the other role's threads would never reach the inner partition's barriers.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn divide_a_role(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = block.partition::<WarpRoles<32, 96>>();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
