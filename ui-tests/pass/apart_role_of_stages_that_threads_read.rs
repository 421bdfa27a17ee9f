//! The accepted neighbour of `fail/apart_role_of_stages_that_threads_read.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn neighbour(block: Block<384>, shared: Shared<Partitioned<Stages<[u32; 256], 2>>>) {
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
