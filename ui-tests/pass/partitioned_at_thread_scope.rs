//! The accepted neighbour of `fail/partitioned_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, BlockScope, CpAsync, Shared, Stages, kernel};

#[kernel]
fn wide(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2, CpAsync, BlockScope>>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
