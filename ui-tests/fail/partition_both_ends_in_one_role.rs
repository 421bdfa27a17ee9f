//! On hardware the role waits for stages that it alone could fill, and hangs.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, Role0, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn send_to_oneself(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline_between(Role0, Role0, shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
