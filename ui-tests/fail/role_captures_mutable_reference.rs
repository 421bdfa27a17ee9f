//! On hardware each thread has its own copy, and the other role's threads would never see the sum.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn accumulate_outside(block: Block<128>) {
    let mut sum = 0_u32;
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| sum += 1).role((), |_, _, ()| {}).run();
    let _ = sum;
}

fn main() {}
