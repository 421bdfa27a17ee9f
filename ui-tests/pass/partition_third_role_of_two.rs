//! The accepted neighbour of `fail/partition_third_role_of_two.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles3};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn three_roles(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles3<32, 32, 64>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
