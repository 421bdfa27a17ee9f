//! On hardware a result goes through 16 bytes of shared memory, for which a pair has no defined
//! bytes.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn return_a_pair(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| (1_u32, 2_u8)).role((), |_, _, ()| {}).run();
}

fn main() {}
