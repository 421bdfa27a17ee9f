//! The accepted neighbour of `fail/consumer_captured_by_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn step_outside(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let size = size_of_val(&consumer);
            group.threads(|_| {
                let _ = size;
            });
        })
        .run();
}

fn main() {}
