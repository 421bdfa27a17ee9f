//! The accepted neighbour of `fail/partition_closure_missing.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn forget_nobody(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
