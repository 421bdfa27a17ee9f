//! On hardware only one role would run the inner partition, whose barriers count the block.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn run_in_a_role(block: Block<128>) {
    let inner = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {});
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = inner.run();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
