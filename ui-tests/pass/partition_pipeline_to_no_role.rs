//! The accepted neighbour of `fail/partition_pipeline_to_no_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, Role0, Role1, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn send_to_somebody(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline_between(Role0, Role1, shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
