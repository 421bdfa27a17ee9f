//! The accepted neighbour of `fail/partition_pipelines_share_memory.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, Role0, Role1, WarpRoles};
type There = Partitioned<Stages<[i32; 128], 2>>;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn use_each_once(block: Block<128>, shared: Shared<(There, There)>) {
    let (there, back) = shared.split();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(there)
        .pipeline_between(Role1, Role0, back)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
