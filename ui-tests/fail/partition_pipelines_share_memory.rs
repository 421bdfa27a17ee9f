//! On hardware two pipelines would make their barriers in the same bytes.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, Role0, Role1, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn use_it_twice(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .pipeline_between(Role1, Role0, shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
