//! On hardware a barrier of 31 threads is undefined: it counts whole warps.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_31(block: Block<128>) {
    let _ = block.partition::<WarpRoles<31, 97>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
