//! The accepted neighbour of `fail/role_handed_per_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn hand_over_a_result(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let largest = block.reduce(&ranks, u32::max);
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = largest;
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
