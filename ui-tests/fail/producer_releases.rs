//! On hardware the arrival counts for the consumers, and the stage is refilled while they read it.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_as_a_producer(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.release();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
