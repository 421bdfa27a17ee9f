//! On hardware thread 0 of the role would get the value of thread 0 of the block: another thread's
//! register.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn hand_over_values(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.partition::<WarpRoles<32, 96>>().role(ranks, |_, _, ranks| drop(ranks)).role((), |_, _, ()| {}).run();
}

fn main() {}
