//! On hardware the other role, or the block, would take the end's steps beside its own role.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_the_end(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let mut kept = None;
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| kept = Some(producer))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
