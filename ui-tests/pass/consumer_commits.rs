//! The accepted neighbour of `fail/consumer_commits.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn leave_as_a_consumer(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| consumer.quit())
        .run();
}

fn main() {}
