//! The accepted neighbour of `fail/producer_captured_by_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn step_outside(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |group, producer, ()| {
            let size = size_of_val(&producer);
            group.threads(|_| {
                let _ = size;
            });
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
