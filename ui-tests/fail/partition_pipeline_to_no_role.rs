//! On hardware nobody would empty the stages, and the producers would wait for ever.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, Role0, Role2, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn send_to_nobody(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline_between(Role0, Role2, shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
