//! On hardware the other role would take the end's steps beside its own.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_the_end(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let kept = Cell::new(None);
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| kept.set(Some(producer)))
        .role((), |_, _, ()| drop(kept.take()))
        .run();
}

fn main() {}
