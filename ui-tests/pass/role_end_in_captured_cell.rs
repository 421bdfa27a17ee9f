//! The accepted neighbour of `fail/role_end_in_captured_cell.rs`.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_it_inside(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let kept = Cell::new(Some(producer));
            drop(kept.take());
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
